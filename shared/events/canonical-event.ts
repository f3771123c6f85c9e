/** `user` of an event's payload. */
export const payerOf = (record: {
  readonly userId?: string | undefined;
  readonly userEmail?: string | undefined;
  readonly guestId?: string | undefined;
  readonly guestEmail?: string | undefined;
}) => {
  if (record.userId) return { id: record.userId, type: 'authenticated', email: record.userEmail ?? null };
  if (record.guestId) return { id: record.guestId, type: 'guest', email: record.guestEmail ?? null };
  return null;
};
