/** One server-sent event. */
export const sse = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
