-- Whether the head that was read is that of the caller's limit, and nothing in it needs the slow path. TEXT_AT bytes are before
-- its text.

taken = letter == kind and version == VERSION and string.sub(data, TEXT_AT + 1, TEXT_AT + #text) == text and now >= calm
  and seen <= now and epoch >= forgotten and (known == 0 or known == epoch or expires <= now)
if taken and expires <= now then fresh, taken, forgotten, expires, kept = true, false, math.max(forgotten, epoch + 1), 0, 0 end
