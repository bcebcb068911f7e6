-- Whether a request whose permits are not free now is refused here. If so, `refused` becomes its wait in microseconds.

if taken and refused then
  refused = refused * 1000 - us
  if not patience or refused <= patience + 0 then taken = false end
  -- After a lower limit has come into force, more may be taken.
  if left and left < 0 then left = 0 end
end
