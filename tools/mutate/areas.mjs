/**
 * The mutated files of each area, and its tests: stages, the quickest first, each a list of patterns of paths. A stage runs
 * only if the earlier ones have not detected the mutant.
 */
export const areas = {
  limits: {
    files: [/^src\/limits\//, /^src\/stores\/memory\//],
    stages: [
      ['test/limits/', 'test/properties/'],
      ['test/redis/(twins|constants|givenBack)'],
      ['test/dispatcher/', 'test/limiter/'],
    ],
  },
  dispatcher: {
    files: [
      /^src\/dispatcher\/(dispatcher|reserveCalls|applyReply|gather|expiry|admission|limitChanges|rescheduler|loop|queue|waiterIndex|reservations|reservedMoments|chain|block|deadlines|refunds|waitEstimate|waitBounds|hopelessRequests|fairShare)\.ts$/,
    ],
    stages: [['test/dispatcher/', 'test/limiter/'], ['test/(operators|fallback|creation)/']],
  },
  scripts: {
    files: [/^lua\/(?!redisson)/],
    stages: [['test/redis/(twins|constants|givenBack|debts)'], ['test/redis/'], ['test/faults/resent\\.']],
  },
  redisson: {
    files: [/^lua\/redisson\//, /^src\/redisson\/RedissonRateLimiter\.ts$/],
    stages: [['test/redisson/(lives|counting|release|history)'], ['test/redisson/']],
  },
};
