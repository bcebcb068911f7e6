/*
 * Mutants that no test can detect, since they change no result: left out of the samples. Each entry is a pattern of a mutant's
 * file and change as a report prints them, and the reason.
 */
export const equivalent = [
  {
    mutant:
      /^lua\/\S+ (if not inRange\(.*«\+ → -»|check(Finite|Small)\(.*«\+ → -»|«\+ → -» (openCount|reserved0)\)$)/,
    why: 'a number that is not finite, or far out of range, makes the sum so, whatever its sign',
  },
  {
    mutant: /(?:openTime|newest|reserved\.last|\blast|Until) > «0 → 1»/,
    why: 'a moment is 0, which means none, or one of the present time',
  },
  {
    mutant: /contenders\.(ts|lua) .*stays = (until|till) «> → >=» now/,
    why: 'the moment is 0, or later than now by two seconds at least',
  },
  {
    mutant: /contenders\.(ts|lua) .*soleUntil = stays (\?|and) .* (:|or) «0 → 1»/,
    why: 'both moments are past',
  },
  {
    mutant: /heads\/token-bucket\.lua .*MOMENT_BOUND.* = 2 \^ «47 → 48»/,
    why: 'six bytes hold all moments below either bound',
  },
  {
    mutant: /\b(\w+Until|frontier|sameSince)(:| =) «0 → 1»|expires, calm, kept = «0 → 1», 0, 0/,
    why: 'both moments are past',
  },
  {
    mutant: /sliding-window\/log\.lua elseif .* #pushed «> → >=» 0 and state\.len > 0 then$/,
    why: 'the list is cut to the length that it has',
  },
  {
    mutant: /reserve\.lua local position, held, lastMoment, .* 6, 0, «0 → 1», 0, /,
    why: 'a moment is 0, which means none, or one of the present time',
  },
  {
    mutant: /reserve\.lua .*addRun\(tonumber\(ARGV\[5\] or 1\), -«1 → 2», /,
    why: 'every negative number stands for any wait',
  },
  {
    mutant: /configure\.lua .*control\.forgotten \+ «1 → 2», /,
    why: 'any later epoch does',
  },
  {
    mutant: /quick\/(\S+\.lua .* forgotten|renew\.lua if slack) «> → >=» (us and forgotten|MOST_SLACK|most)/,
    why: 'the two are the same number then',
  },
  {
    mutant: /reserve\.lua local left, .* reply\[4\] «< → <=» 0$/,
    why: 'the time until a pause ends is above 0, or -1',
  },
  {
    mutant: /places\.ts (if \(\+\+this\.#calls % lookEvery «=== → !==»|isKept = «true → false»)/,
    why: 'the store looks for idle places, or for its place, more often, and finds the same',
  },
  {
    mutant: /token-bucket\/format\.lua return state\.units > -2 \^ «59 → 60»/,
    why: 'both formats hold all numbers down to the lower bound',
  },
  {
    mutant:
      /dispatcher\.ts if \(«replaces \|\| request\.stage !== 'settled' → true»\) this\.loop\.wake\(\);$/,
    why: 'a pass after a rejected request finds nothing to do',
  },
  {
    mutant:
      /limitChanges\.ts if \(limits === known\) «return; → ;»$|limitChanges\.ts if \(«limits === known → false»\)/,
    why: 'the same limits are equal as texts too',
  },
  {
    mutant:
      /search\.lua (if .*needAt.* then searchBack\(state, room\) end|«state\.needAt, .* = index, state\.total - kept → nothing»)$/,
    why: 'the search begins at another entry, and finds the same one',
  },
  {
    mutant: /sliding-window\/log\.lua if place >= state\.front «and → or» place < stop then$/,
    why: 'an entry is written before it is cut off',
  },
  {
    mutant: /sliding-window\/log\.lua local begins = .* #pushed «> → >=» 0 and not inline$/,
    why: 'a list that does not exist is deleted',
  },
  {
    mutant: /quick\/asked-reserve\.lua local asked, .* «0 → 1», 1$|newest\.lua local newest = «0 → 1»$/,
    why: 'both moments are past',
  },
  {
    mutant: /quick\/\S+\.lua .* math\.max\(forgotten, epoch \+ «1 → 2»\)/,
    why: 'any later epoch does',
  },
  {
    mutant: /limits\/sliding-window\.lua if not time or time «> → >=» gone then break end$/,
    why: 'an entry that has expired may stay in the log until the next call',
  },
  {
    mutant: /sliding-window\/log\.lua state\.total, .* = 0, 0, «0 → 1», 0, 0$/,
    why: 'there is no entry, and both moments are past',
  },
  {
    mutant: /quick\/(open\.lua and since .*|check\.lua if taken and expires) «<= → <» now /,
    why: 'at that very moment, the whole way gives the same answer',
  },
  {
    mutant: /sliding-window\/search\.lua while oldest «< → <=» ahead do$/,
    why: 'the first reservation ahead is later than any window that ends before it',
  },
  {
    mutant: /sliding-window\/log\.lua local size = .* and LONG_CHUNK or CHUNK$/,
    why: 'only the number of entries that are read together changes',
  },
  {
    mutant: /quick\/reserve\.lua return .* requests «\+ → -» 0, 0 }$/,
    why: 'the reply holds the number, and 0 is added or subtracted',
  },
  {
    mutant: /queue\.ts if \(«request\.waiter\.cancelsAll → true»\) this\.waiters\.unlink\(request\);$/,
    why: 'a waiter that is not linked has no entry to remove',
  },
  {
    mutant: /grantBounds\.ts const earliest = Math\.max\(last\?\.earliestDue \?\? «0 → 1», since\);$/,
    why: 'no request joins within the first millisecond of a process',
  },
  {
    mutant: /quick\/sliding-window\.lua taken = entries «<= → <» MOST_INLINE /,
    why: 'the slow path gives the same answer',
  },
  {
    mutant: /token-bucket\/format\.lua kind = 't', .* units = spec\[5\] «\* → \/» spec\[4\], ts = 0, /,
    why: 'a bucket that was last used at the moment 0 is full by now',
  },
  {
    mutant: /ledger\/format\.lua refuseKey\(.*:find\("'unpack'", «1 → 2», true\)/,
    why: 'no message begins with the name of the function',
  },
  {
    mutant: /checked\.lua if not \(sum > -2 \^ 60 and sum «< → <=» 2 \^ 60\)/,
    why: 'any bound far above the numbers in use does',
  },
  {
    mutant: /quick\/fixed-window\.lua taken = taken and used «> → >=» 0 /,
    why: 'the slow path keeps an open window of which everything was refunded, too',
  },
  {
    mutant: /dispatcher\.ts if \(«owner\.prefetches → true»\) this\.#queue\.settled\.forget\(owner\);$/,
    why: 'a waiter that does not prefetch ignores callbacks after its end',
  },
  {
    mutant: /heads\/common\.lua local MOST_SLACK = «2 → 3» \^ 32/,
    why: 'the expiry of a key is renewed more often',
  },
  {
    mutant: /reserve\.lua local mayOrder, delay, barred = .*, «0 → 1», false$/,
    why: 'it is read only where clients wait in order, and is computed there',
  },
  {
    mutant: /format\.lua .* ledger\.frontier «<= → <» now$/,
    why: 'a frontier at the present time is past, whether it is stored or not',
  },
  {
    mutant: /sliding-window\/search\.lua if state\.fitAt == 0 and t «> → >=» now /,
    why: 'the search goes on from there in either direction',
  },
];
