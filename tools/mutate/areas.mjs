/**
 * The mutated files of each area, and its tests: stages, the quickest first, each a list of patterns of paths. A stage runs
 * only if the earlier ones have not detected the mutant.
 */
export const areas = {
  limits: {
    files: [/^src\/limits\//, /^src\/stores\/memory\//],
    stages: [
      ['test/limits/', 'test/properties/(?!fullRate|neverOver|pairs|quickWay)'],
      ['test/redis/(twins|constants|givenBack)'],
      ['test/properties/(fullRate|neverOver|pairs|quickWay)', 'test/dispatcher/(?!manyAtOnce)'],
      // A test of elapsed time fails on a busy machine, whatever the mutant.
      ['test/limiter/(?!timeoutStack)'],
    ],
  },
  dispatcher: {
    files: [
      /^src\/heap\.ts$/,
      /^src\/dispatcher\/(dispatcher|reserveCalls|applyReply|gather|expiry|admission|limitChanges|rescheduler|loop|queue|waiterIndex|reservations|reservedMoments|chain|block|deadlines|refunds|waitEstimate|waitBounds|grantBounds|hopelessRequests|fairShare)\.ts$/,
    ],
    stages: [
      ['test/dispatcher/(?!hopeless|leaving|longRun|manyAtOnce)'],
      ['test/limiter/(?!timeoutStack)'],
      ['test/dispatcher/(hopeless|leaving|longRun|manyAtOnce)'],
      // A growth of processor time varies on a busy machine, too.
      ['test/(operators|fallback)/', 'test/creation/(?!fromThrottledGrowth)'],
    ],
  },
  scripts: {
    files: [/^lua\/(?!redisson)/],
    stages: [
      ['test/redis/(constants|damaged|givenBack|debts|gaps|keys|rate|scripts|stretched|writesLast)\\.'],
      ['test/redis/twins'],
      [
        // Without those of connections, and those of the two stages before.
        'test/redis/(?!connections|constants|damaged|debts|gaps|givenBack|keys|processes|scripts|sentinel|stretched|twins|writesLast)',
        'test/fuzz/(largeValues|scripts|tooLongLog)',
      ],
      ['test/faults/resent\\.'],
    ],
  },
  redisson: {
    files: [/^lua\/redisson\//, /^src\/redisson\/RedissonRateLimiter\.ts$/],
    stages: [['test/redisson/(lives|counting|release|history)'], ['test/redisson/']],
  },
};
