interface Batch<Question, Answer> {
  readonly questions: Question[];
  readonly answers: Promise<readonly Answer[]>;
}

/**
 * Asks together what is asked in one turn of the event loop, up to so many questions at once: what Node spends on a call to
 * Redis hardly depends on its length. A failure is that of all.
 */
export function createTurnBatch<Question, Answer>(
  askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  atOnceMax: number,
): (question: Question) => Promise<Answer> {
  let open: Batch<Question, Answer> | undefined;

  function openBatch(): Batch<Question, Answer> {
    const questions: Question[] = [];
    const answers = new Promise<readonly Answer[]>((resolve, reject) => {
      setImmediate(() => {
        if (open === batch) open = undefined;
        askAll(questions).then(resolve, reject);
      });
    });
    const batch = { questions, answers };
    return batch;
  }

  return async (question) => {
    if (open === undefined || open.questions.length >= atOnceMax) open = openBatch();
    const { questions, answers } = open;
    const index = questions.push(question) - 1;
    const answer = (await answers)[index];
    if (answer === undefined) throw new Error('a question was left without an answer');
    return answer;
  };
}
