-- Whether the head that was read is that of the caller's limit, and nothing in it needs the slow path. TEXT_AT bytes are before
-- its text. The numbers by which the limit grants must be those of the text, too.

taken = letter == kind and version == VERSION and string.sub(data, TEXT_AT + 1, TEXT_AT + #text) == text
  and string.format('%c%d,%d,%d', kind, permits, interval, extra) == text and now >= calm
  and seen <= now and epoch >= forgotten and (known == 0 or known == epoch or expires <= now)
if taken and expires <= now then fresh, taken, forgotten, expires, kept = true, false, math.max(forgotten, epoch + 1), 0, 0 end
