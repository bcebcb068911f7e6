-- Whether the head that was read is that of the caller's limit, and nothing in it needs the slow path. TEXT_AT bytes are before
-- its text, and no text begins with another one. The numbers by which the limit grants must be those of the text, too: they have
-- the checksum that was stored with them. It is computed by lua/heads/checksum, which is placed before this.

taken = mark == kind + 256 * VERSION and data:find(text, TEXT_AT + 1, true) == TEXT_AT + 1
  and sum == checksum and now >= calm
  and seen <= now and epoch >= forgotten and (known == 0 or known == epoch or expires <= now)
if taken and expires <= now then fresh, taken, forgotten, expires, kept = true, false, math.max(forgotten, epoch + 1), 0, 0 end
