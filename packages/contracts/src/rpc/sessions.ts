const SESSION_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Whether a text can name a notification session. */
export const isSessionId = (text: string): boolean => SESSION_ID.test(text);

/**
 * The channel that the notifications of a session travel on, between the process that makes them and the one that holds the
 * listener: one or more of them, each on a line of its own.
 */
export const sessionChannel = (sessionId: string): string => `notify:${sessionId}`;

/** The entry that says whose session it is. */
export const sessionOwnerKey = (sessionId: string): string => `session-owner:${sessionId}`;

/** The channel on which every process says which sessions are listened to from now on. */
export const SESSION_LISTENERS_CHANNEL = 'session-listeners';
