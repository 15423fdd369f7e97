/** The event that tells operators where a recorder has halted; the same one however often it is reported. */
export const haltedEvent = ({ id, error }: { readonly id: string; readonly error: string }) =>
  ({
    key: `usage.halted:${id}`,
    type: 'usage.halted',
    groupId: null,
    data: { event_id: id, error },
  }) as const;
