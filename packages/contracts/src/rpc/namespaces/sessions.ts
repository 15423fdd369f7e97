const SESSION_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Whether a text is a valid id of a notification session. */
export const isSessionId = (text: string): boolean => SESSION_ID.test(text);

/**
 * The channel for the notifications of a session, from the process that creates them to the one with the listener. A
 * message contains one or more notifications, one per line.
 */
export const sessionChannel = (sessionId: string): string => `notify:${sessionId}`;

/** The channel for what only listeners of a session that are authenticated as the user may get. A session id contains no slash. */
export const userSessionChannel = (userId: string, sessionId: string): string =>
  `notify-user:${userId}/${sessionId}`;

/** The key of the entry that contains the owner of a session. */
export const sessionOwnerKey = (sessionId: string): string => `session-owner:${sessionId}`;

/** The channel on which every process publishes the sessions that have a new listener. */
export const SESSION_LISTENERS_CHANNEL = 'session-listeners';
