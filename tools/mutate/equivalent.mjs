/*
 * Mutants that no test can detect, since they change no result: left out of the samples. Each entry is a pattern of a mutant's
 * file and change as a report prints them, and the reason.
 */
export const equivalent = [
  {
    mutant:
      /^lua\/\S+ (if not inRange\(.*«\+ → -»|check(Finite|Small)\(.*«\+ → -»|(\+ reserved0 )?«\+ → -» (openCount|reserved0|reserved0 \+ shift|shift)\)$)/,
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
    mutant: /reserve\/asked\.lua local held, lastMoment, .* = 0, «0 → 1», 0, /,
    why: 'a moment is 0, which means none, or one of the present time',
  },
  {
    mutant: /reserve\/asked\.lua .*addRun\(tonumber\(ARGV\[5\] or 1\), -«1 → 2», /,
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
    mutant: /reserve\/opened\.lua local left, .* reply\[4\] «< → <=» 0$/,
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
      /joining\.ts if \(«replaces \|\| \(request\.stage !== 'settled' && !isBehind\) → true»\) loop\.wake\(\);$/,
    why: 'a pass after a rejected request, or one behind others, finds nothing to do',
  },
  {
    mutant: /joining\.ts if \(«deadlines\.first === request → true»\) loop\.settle\(\);$/,
    why: 'the timer stays set for the same time',
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
    mutant: /sliding-window\/log\.lua state\.total, .* = 0, 0, 0, «0 → 1», 0, 0$/,
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
    mutant: /token-bucket\/format\.lua kind = 't', .* units = spec\[5\] «\* → \/» spec\[4\], ts = 0,/,
    why: 'a bucket that was last used at the moment 0 is full by now',
  },
  {
    mutant: /ledger\/format\.lua refuseKey\(.*:find\("'unpack'", «1 → 2», true\)/,
    why: 'no message begins with the name of the function',
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
    mutant: /heads\/common\.lua local MOST_SLACK = «4294967295 → 4294967296»/,
    why: 'the expiry of a key is renewed more often',
  },
  {
    mutant:
      /reserve\/opened\.lua local turns, inOrder, delay, expected, isFirst, barred = false, false, «0 → 1», 0, true, false$/,
    why: 'it is read only where clients wait in order, and is computed there',
  },
  {
    mutant: /format\.lua .* frontierOf\(ledger\) «<= → <» now$/,
    why: 'a frontier at the present time is past, whether it is stored or not',
  },
  {
    mutant: /sliding-window\/search\.lua if state\.fitAt == 0 and t «> → >=» now /,
    why: 'the search goes on from there in either direction',
  },
  {
    mutant:
      /^lua\/(limits|ledger|quick)\/\S+ .*(2 \^ «60 → 61»|«< → <=» 2 \^ 60|«> → >=» -2 \^ 60|«<= → <» LARGEST)/,
    why: 'any bound far above the numbers in use does',
  },
  {
    mutant: /^lua\/limits\/\S+ checkCounts\(.*«0 → 1»\)$/,
    why: 'the constant that fills the place of a third number passes too',
  },
  {
    mutant: /sliding-window\/format\.lua if len ~= «math\.floor → math\.ceil»\(len\)/,
    why: 'a whole number is equal to both',
  },
  {
    mutant:
      /sliding-window\.lua (local MOST_CHANGED = |.*changed \+ «1 → 2», index|if changed «> → >=» MOST_CHANGED)/,
    why: 'the same entries are written, in another way',
  },
  {
    mutant: /sliding-window\/log\.lua «state\.changed\[place\] = nil → nothing»$/,
    why: 'an entry that the list no longer holds is not written as a changed one',
  },
  {
    mutant: /sliding-window\.lua (local PURGE_LIMIT = |while dropped «< → <=» PURGE_LIMIT )/,
    why: 'an entry that has expired may stay in the log until the next call',
  },
  {
    mutant: /sliding-window\.lua while .*dropped «< → <=» state\.len do$/,
    why: 'the entry after the list has not expired',
  },
  {
    mutant: /sliding-window\.lua if state\.openTime == «0 → 1» or /,
    why: 'a moment is 0, which means none, or one of the present time',
  },
  {
    mutant: /fixed-window\.lua if soonest «>= → >» state\.stop then return soonest end$/,
    why: 'at that moment, each of the later lines returns it too',
  },
  {
    mutant: /fixed-window\.lua if not window or now «>= → >» window\.stop then return 0 end$/,
    why: 'a window that has ended is forgotten',
  },
  {
    mutant: /(newest|history)\.lua .* or -«1 → 2»/,
    why: 'both are before every moment',
  },
  {
    mutant: /epochs\.lua .*return «0 → 1»( end)?$/,
    why: 'both moments are past',
  },
  {
    mutant: /pace\.lua (if n «> → >=» 0 |local longest = «0 → 1»)/,
    why: 'no load is below zero, and no interval below one',
  },
  {
    mutant: /ledger\/state\.lua .*kept = «0 → 1»,$/,
    why: 'both moments are past',
  },
  {
    mutant:
      /^lua\/\S+ .*(n|left) («< → <=» 2 \^ 52|< 2 \^ «52 → 53»|< «2 → 3» \^ 52) and (n|left) or string\.format/,
    why: 'the reply holds the same number, as a number or as text',
  },
  {
    mutant:
      /reserve(\/opened)?\.lua (.* reply\[4\] < «0 → 1»$|.* or retryAt > «0 → 1»$|.* stays and till or «0 → 1», now\)$)/,
    why: 'the wait, or the moment, is that of a pause or a call to come, or none',
  },
  {
    mutant: /reserve\/asked\.lua while ARGV\[position \+ «1 → 2»\] do$/,
    why: 'a run has at least three arguments, and the time of a test is one',
  },
  {
    mutant: /sliding-window\/log\.lua local CHUNK, LONG_CHUNK = /,
    why: 'only the number of entries that are read together changes',
  },
  {
    mutant: /sliding-window\/search\.lua if needed «- → \+» count \+ spare < 0 then break end$/,
    why: 'the search goes back further, and then forward again to the same entry',
  },
  {
    mutant: /quick\/renew\.lua if till «< → <=» now \+ LEAST_LIFE then /,
    why: 'the moment is set to the value that it has',
  },
  {
    mutant: /quick\/\S+ .*(units|since) = now - seen «>= → >» \(cap - units\) \/ permits /,
    why: 'both sums are the same when the bucket has just become full',
  },
  {
    mutant: /format\.lua if position «<= → <» #data then position = (algebra\.)?unpackRare\(/,
    why: 'the rare fields take more than one byte, and a single byte is refused in either way',
  },
  {
    mutant: /sliding-window\/log\.lua if state\.len == 0 and \(state\.foreign or state\.was «> → >=» 0\)/,
    why: 'a list that does not exist is deleted',
  },
  {
    mutant: /sliding-window\/log\.lua elseif state\.front > 0 or stop «< → <=» state\.was /,
    why: 'the list is cut to the length that it has',
  },
  {
    mutant: /sliding-window\/log\.lua for from = 1, #pushed, «1000 → 1001» do$/,
    why: 'only the number of entries that are written together changes',
  },
  {
    mutant: /sliding-window\/log\.lua if begins or lives and state\.len «> → >=» 0 then /,
    why: 'a list that does not exist has no expiry',
  },
  {
    mutant: /sliding-window\/(format|log)\.lua .*openCount(, state\.newest)? = (0, )?«0 → 1», /,
    why: 'there is no open entry, so nothing reads its count',
  },
  {
    mutant: /sliding-window\/format\.lua if state\.pushed\[1\] then state\.oldest = .*«1 → 2»\] end$/,
    why: 'it is earlier than every entry, and the next search for expired ones corrects it',
  },
  {
    mutant:
      /quick\/asked-reserve\.lua if not ARGV\[«10 → 11»\] then$|quick\/asked-reserve\.lua .*ARGV\[first \+ «4 → 5»\]/,
    why: 'a run has three arguments or more: either argument exists if the other does',
  },
  {
    mutant: /ledger\/format\.lua (local MOST_LIMITS = |if #kinds «> → >=» MOST_LIMITS )/,
    why: 'no limiter has so many limits',
  },
  {
    mutant: /serve\.lua local hole = .*now «\+ → -» 1, ledger\.pausedUntil/,
    why: 'holes that are due were refunded when the ledger was opened',
  },
  {
    mutant: /quick\/\S+ .*«math\.max → math\.min»\(forgotten, epoch \+ 1\)/,
    why: 'the present time is later than the epoch of an expired ledger',
  },
  {
    mutant: /ledger\/format\.lua .*kept = expires «\+ → -» slack/,
    why: 'the expiry of a key is renewed more often',
  },
  {
    mutant: /^lua\/quick\/(asked|open)\S* .*(ARGV\[\d+\]|ownUs) «\+ → -» 0\b/,
    why: 'a text becomes a number in either way',
  },
  {
    mutant: /^lua\/quick\/\S+ .*(newest = at «> → >=» newest and|if till «< → <=» expires then)/,
    why: 'both are the same then',
  },
  {
    mutant: /^lua\/quick\/\S+ .*math\.max\(forgotten, epoch «\+ → -» 1\)/,
    why: 'the present time is later than the epoch of an expired ledger',
  },
  {
    mutant: /^lua\/quick\/\S+ .*(lengthBefore < MOST_ENTRIES - «1 → 2»|count «<= → <» MOST_PAST) /,
    why: 'the slow path gives the same answer',
  },
  {
    mutant:
      /^lua\/(quick|heads)\/\S+ .*(«< → <=» (TIME|HELD|MOMENT)_BOUND|TIME_BOUND, COUNT_BOUND = («2 → 3» \^ 48|2 \^ «48 → 49»)|HELD_BOUND = .* 2 \^ «46 → 47»)/,
    why: 'no moment of a window that is open comes near the bound, and six bytes hold it',
  },
  {
    mutant: /^lua\/quick\/reserve\.lua .*(known > «0 → 1» and|known «< → <=» epoch and)/,
    why: 'no epoch is 1, and a client that knows the epoch has its reply by then',
  },
  {
    mutant: /sliding-window\.lua (if back «> → >=» 0 then lessen|if count «> → >=» 0 and time <= limit then)/,
    why: 'nothing is taken from the entry',
  },
  {
    mutant:
      /sliding-window\.lua (local changed, first = «0 → 1», |if changed > MOST_CHANGED and first «< → <=» state\.len )/,
    why: 'the same entries are written, in another way',
  },
  {
    mutant: /sliding-window\/format\.lua .*len «>= → >» COUNT_BOUND /,
    why: 'no list is so long',
  },
  {
    mutant: /sliding-window\/log\.lua if not \(time «>= → >» 0 and /,
    why: 'no entry is of the moment 0',
  },
  {
    mutant: /sliding-window\/search\.lua if kept \+ count «> → >=» room then break end$/,
    why: 'the search begins at another entry, and finds the same one',
  },
  {
    mutant: /token-bucket\.lua if now - state\.ts «>= → >» \(cap - state\.units\)/,
    why: 'both sums are the same when the bucket has just become full',
  },
  {
    mutant: /token-bucket\.lua if missing «<= → <» 0 then return now/,
    why: 'the wait is 0 then',
  },
  {
    mutant: /token-bucket\/format\.lua .*(«>= → >» (MOMENT|HELD)_BOUND|units «> → >=» -2 \^ 59)/,
    why: 'both formats hold the bound',
  },
  {
    mutant: /token-bucket\/format\.lua .*(owedUntil|unsureUntil) «> → >=» now/,
    why: 'a moment that has just passed may be stored',
  },
  {
    mutant: /token-bucket\/history\.lua if t «<= → <» newest then$/,
    why: 'the newest step is the first one',
  },
  {
    mutant: /(refund|holes)\.lua (else)?if n «> → >=» 0 (and moment == NEWEST )?then/,
    why: 'a refund of no permits changes nothing',
  },
  {
    mutant: /offer\.lua if not \((moment «<= → <» free|fits «>= → >» count)\) then/,
    why: 'both are the same then',
  },
  {
    mutant: /contenders\.lua if own > now .* else own = «0 → 1» end$/,
    why: 'both moments are past',
  },
  {
    mutant: /control\.lua if now >= control\.pausedSince or control\.pausedUntil == «0 → 1» /,
    why: 'no pause began before the moment 0',
  },
  {
    mutant: /epochs\.lua .*(moment > «0 → 1» and|last\.from \+ NOTICE_PERIOD or «0 → 1»)/,
    why: 'both moments are past',
  },
  {
    mutant:
      /ledger\/format\.lua .*(ledger\.expires «< → <=» LAST_MOMENT|return calm «<= → <» now |ledger\.largestUntil «<= → <» now)/,
    why: 'a ledger may have another form then, and holds the same',
  },
  {
    mutant: /ledger\/(format|state)\.lua .*largest = «0 → 1», largestUntil = 0/,
    why: 'it counts until a moment that is past',
  },
  {
    mutant: /ledger\/state\.lua .*expires = «0 → 1», /,
    why: 'both moments are past',
  },
  {
    mutant: /ledger\/state\.lua if need («> → >=» left |> left or left «> → >=» 4 )/,
    why: 'the expiry of a key is renewed more often',
  },
  {
    mutant: /holes\.lua (if cost\[i\] «> → >=» 0 then room = |if left «> → >=» 0 and not addHole)/,
    why: 'a limit that is not charged has room for any number, and of a larger reservation something is left',
  },
  {
    mutant: /pace\.lua return moment ~= «0 → 1» and /,
    why: 'both moments are past',
  },
  {
    mutant: /reserve\/serve\.lua local hole = wait «> → >=» 0 and holeFor/,
    why: 'no hole is later than now and before the present moment',
  },
  {
    mutant: /control\.(ts|lua) if .*pausedUntil ={2,3} «0 → 1»/,
    why: 'without a pause, it began at 0, which is past',
  },
  {
    mutant: /slidingWindow\.ts while \(state\.head «< → <=» end && /,
    why: 'an expired entry may leave the log one call earlier',
  },
  {
    mutant: /slidingWindow\.ts if \(state\.head > 128 «&& → \|\|» state\.head \* 2 > /,
    why: 'only when expired entries leave the array changes',
  },
  {
    mutant: /slidingGap\.ts while \(place «> → >=» head && log\[place - 2\] >= slot\)/,
    why: 'the entry before the log has expired, so it is earlier',
  },
  {
    mutant: /fixedWindow\.ts shift: «0 → 1»,$/,
    why: 'a new state is brought up to the present time, which sets it',
  },
  {
    mutant: /dispatcher\/\w+\.ts .*(retryAt = «0 → 1»|calmFrom = «0 → 1»|nextRound = «0 → 1»)/i,
    why: 'both moments are past',
  },
  {
    mutant: /grantBounds\.ts (#version = «0 → 1»|.*waits = last && last\.earliestDue «> → >=» sent )/,
    why: 'there is no last reservation yet, and a reservation is later than its call',
  },
  {
    mutant: /grantBounds\.ts .*(sent «< → <=» this\.#calmFrom|now «>= → >» this\.#calmFrom)/,
    why: 'windows may be paced until then, a bound that has room',
  },
  {
    mutant: /grantBounds\.ts return last && last\.due «> → >=» now \? last : undefined;$/,
    why: 'what the last reservation says of later moments holds at its own moment, too',
  },
  {
    mutant: /(grantBounds|hopelessRequests)\.ts for \(let i = 0; i «< → <=» (permits|cost)\.length; i\+\+\)/,
    why: 'no limit reads the number that is added',
  },
  {
    mutant: /waitBounds\.ts if \(«further === Infinity → false»\) return Infinity;$/,
    why: 'the sum is infinite in either way: only the store is asked in vain',
  },
  {
    mutant: /hopelessRequests\.ts (let count = «0 → 1»;|const assessedPerMs = «25 → 26»;)$/,
    why: 'the next assessment comes a fraction of a millisecond earlier or later',
  },
  {
    mutant:
      /fairShare\.ts for \(; i («> → >=» 0 && sorted\[i - 1\] > trip|> 0 && sorted\[i - 1\] «> → >=» trip);/,
    why: 'nothing is before the first number, and equal numbers have no order',
  },
  {
    mutant: /fixed-window\/format\.lua kind = 'f', .* used = «0 → 1»/,
    why: 'the window has ended, and is emptied before its first use',
  },
  {
    mutant: /admission\.ts if \(queue\.size «<= → <» maxQueue \|\| !this\.mustWait\) return;$/,
    why: 'a queue that is just full has no request too many',
  },
  {
    mutant:
      /^src\/heap\.ts .*(child\]\.rank «>= → >» member|parent\]\.rank «<= → <» member|\.rank «< → <=» members\[child\])\.rank\)/,
    why: 'members of one rank have no order',
  },
  {
    mutant: /memory\/reserve\.ts after: earlier \? «0 → 1» : last,$/,
    why: 'both moments are past',
  },
  {
    mutant: /memoryLedger\.ts if \(«known → false»\) reply\(null, known\.available\);$/,
    why: 'the slow path gives the same answer',
  },
  {
    mutant: /dispatcher\/refunds\.ts version = «0 → 1»;$/,
    why: 'only whether it has changed is compared',
  },
  {
    mutant: /queue\.ts if \(«request\.timeout === 0 → true»\) this\.immediate\.delete\(request\);$/,
    why: 'a set that does not hold the request stays as it is',
  },
  {
    mutant: /reservedMoments\.ts for \(let before = this\.last; before && before\.due «> → >=» added\.due;/,
    why: 'both are due at the same time',
  },
  {
    mutant: /quick\/check\.lua if taken and expires <= now then fresh, taken, .* = true, «false → true»,/,
    why: 'all in a ledger that has expired is past, and replaced by what a new one holds',
  },
  {
    mutant: /slidingWindow\.ts (else if \(last «< → <=» shortLog\)|const shortLog = «16 → 17»)/,
    why: 'the log has the same entries, in an array without room for more',
  },
  {
    mutant:
      /gather\.ts if \((timeout === 0 «\|\| → &&» timeout === Infinity|«timeout === 0 \|\| timeout === Infinity → false»)\) return timeout;$/,
    why: 'the deadline is infinite, or not after now: the wait calculated from it is the same',
  },
];
