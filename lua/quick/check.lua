-- Whether the head that was read is that of the caller's limit, and nothing in it needs the slow path.

taken = letter == kind and version == VERSION and p == permits and i == interval and x == extra and now >= calm
  and seen >= 0 and seen <= now and epoch >= forgotten and expires >= 0 and epoch + expires < 2 ^ 60
  and (expires <= now or known == 0 or known == epoch)
