// Scripts at a time set by the test, with bounds so small that short logs reach them.

/** Where the server keeps the time that the scripts read. */
export const clock = 'clock';

/**
 * The prefix of a script: the server's time, and all times derived from it, follow the clock of the test. That clock is
 * far ahead of the server's, so that no key expires by itself: virtualRedis.ts expires them.
 */
const shim = `
local server = redis
local time = server.call('HMGET', '${clock}', 's', 'us')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function endAt(key, moment)
  if moment + 0 <= now then return server.call('DEL', key) end
  return server.call('PEXPIREAT', key, string.format('%.0f', moment))
end
local function inTime(ask)
  return function(command, key, ...)
    local name, args = string.upper(command), { ... }
    if name == 'TIME' then return time end
    if name == 'PEXPIRE' then return endAt(key, now + args[1]) end
    if name == 'PEXPIREAT' then return endAt(key, args[1]) end
    if name == 'PTTL' then
      local ends = server.call('PEXPIRETIME', key)
      return ends < 0 and ends or ends - now
    end
    if name == 'SET' and args[2] then
      local answer = server.call('SET', key, args[1])
      endAt(key, now + args[3])
      return answer
    end
    return ask(command, key, ...)
  end
end
local redis = { call = inTime(server.call), pcall = inTime(server.pcall), error_reply = server.error_reply }
`;

/** A script that uses the clock of the test. */
export function timed(lua: string): string {
  return `${shim}do\n${lua}\nend`;
}

/**
 * The bounds of the scripts in the test. A `value` changed by hand is never trusted if the log disagrees; and the log
 * is never counted merely because a count is due, which would hide errors.
 */
const bounds = {
  MOST_EXPIRED: 4,
  TIDIED: 4,
  COUNTED_AT_LEISURE: 5,
  BELIEVED: 0,
  CHECKED: 1_000_000_007,
};

/** Scripts with the bounds above. */
export function scaled<Name extends string>(texts: Record<Name, string>): Record<Name, string> {
  const all = Object.values<string>(texts).join('\n');
  for (const bound of Object.keys(bounds))
    if (!all.includes(`local ${bound} = `)) throw new Error(`no script has a bound ${bound}`);
  const change = (lua: string) =>
    Object.entries(bounds).reduce(
      (text, [bound, value]) =>
        text.replace(new RegExp(`local ${bound} = \\d+`), `local ${bound} = ${value}`),
      lua,
    );
  return Object.fromEntries(
    Object.entries<string>(texts).map(([name, lua]) => [name, change(lua)]),
  ) as Record<Name, string>;
}
