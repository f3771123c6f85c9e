/** The one table: keys and indexes, read by every host that creates it. All keys are strings. */
export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  ttl: 'ttl',
  indexes: [
    /** A record under its owner (user, guest or organization) and kind, newest last. */
    { name: 'owner', partitionKey: 'owner', sortKey: 'sort', include: ['f'] },
    /** A record under its project and kind, newest last. */
    { name: 'project', partitionKey: 'project', sortKey: 'sort', include: ['f'] },
    /** What has an appointment, by shard, soonest first. */
    { name: 'due', partitionKey: 'due', sortKey: 'due_at', include: [] },
  ],
} as const;
