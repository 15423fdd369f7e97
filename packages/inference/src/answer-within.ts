/** The answer if it comes in time; otherwise rejects, and whatever comes later is nobody's any more. */
export async function answerWithin<Answer>(
  answer: Promise<Answer>,
  milliseconds: number,
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
