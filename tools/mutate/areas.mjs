/** The mutated files of each area, and patterns of the paths of its tests. */
export const areas = {
  limits: {
    files: [/^src\/limits\//, /^src\/stores\/memory\//],
    tests: [
      'test/limits/',
      'test/properties/',
      'test/redis/(twins|constants|sharedConstants|debts|gaps|givenBack|tickets|turns)',
      // A test of elapsed time fails on a busy machine, whatever the mutant.
      'test/dispatcher/(?!manyAtOnce)',
      'test/limiter/(?!timeoutStack)',
    ],
  },
  dispatcher: {
    files: [
      /^src\/(heap|together)\.ts$/,
      /^src\/dispatcher\/(dispatcher|joining|passes|granting|reserveCalls|replyPrefetch|applyReply|grantAtOnce|gather|expiry|admission|limitChanges|rescheduler|loop|queue|waiterIndex|reservations|reservedMoments|chain|block|deadlines|refunds|waitEstimate|waitBounds|grantBounds|hopelessRequests|fairShare)\.ts$/,
    ],
    tests: [
      'test/dispatcher/',
      'test/limiter/(?!timeoutStack)',
      // A growth of processor time varies on a busy machine, too.
      'test/(operators|fallback)/',
      'test/redis/sharedConstants',
      'test/creation/(?!fromThrottledGrowth)',
    ],
  },
  scripts: {
    files: [/^lua\/(?!redisson)/],
    tests: [
      // Without those of connections.
      'test/redis/(?!connections|processes|sentinel)',
      'test/fuzz/(largeValues|scripts|tooLongLog)',
      'test/faults/resent\\.',
    ],
  },
  redisson: {
    files: [/^lua\/redisson\//, /^src\/redisson\/RedissonRateLimiter\.ts$/],
    tests: ['test/redisson/'],
  },
};
