interface Batch<Question, Answer> {
  readonly questions: Question[];
  readonly answers: Promise<readonly Answer[]>;
}

/**
 * Asks together what is asked in one turn of the event loop, up to so many questions at once: what Node spends on a call to
 * Redis hardly depends on its length. A failure is that of all. A question that comes alone does not wait for company.
 */
export function createTurnBatch<Question, Answer>(
  askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  atOnceMax: number,
): (question: Question) => Promise<Answer> {
  let open: Batch<Question, Answer> | undefined;
  let underWay = 0;
  let lastSize = 1;

  async function ask(questions: readonly Question[]): Promise<readonly Answer[]> {
    underWay += 1;
    try {
      return await askAll(questions);
    } finally {
      underWay -= 1;
    }
  }

  async function askAlone(question: Question): Promise<Answer> {
    underWay += 1;
    try {
      return answerOf(await askAll([question]), 0);
    } finally {
      underWay -= 1;
    }
  }

  function openBatch(): Batch<Question, Answer> {
    const questions: Question[] = [];
    const answers = new Promise<readonly Answer[]>((resolve, reject) => {
      setImmediate(() => {
        if (open === batch) open = undefined;
        lastSize = questions.length;
        ask(questions).then(resolve, reject);
      });
    });
    const batch = { questions, answers };
    return batch;
  }

  return (question) => {
    if (open === undefined && underWay === 0 && lastSize === 1) return askAlone(question);
    if (open === undefined || open.questions.length >= atOnceMax) open = openBatch();
    const { questions, answers } = open;
    const index = questions.push(question) - 1;
    return answers.then((all) => answerOf(all, index));
  };
}

function answerOf<Answer>(answers: readonly Answer[], index: number): Answer {
  const answer = answers[index];
  if (answer === undefined) throw new Error('a question was left without an answer');
  return answer;
}
