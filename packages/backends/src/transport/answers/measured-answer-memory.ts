import type { Metrics } from '@model-gateway/kernel';
import { createAnswerMemory, type AnswerMemory } from './answer-memory.ts';

/** The memory of large upstream answers in this process, with its metrics. */
export function createMeasuredAnswerMemory(bytesMax: number, metrics: Metrics): AnswerMemory {
  const refused = metrics
    .counter({
      name: 'service_upstream_answers_refused_total',
      help: 'Large upstream answers that were given up because there was no memory for them.',
    })
    .series({});
  const memory = createAnswerMemory({ bytesMax, onRefused: () => refused.inc() });
  metrics.gauge({
    name: 'service_upstream_answer_bytes',
    help: 'Bytes of large upstream answers that are held until their clients have them.',
    collect: (gauge) => gauge.set(memory.heldBytes),
  });
  metrics.gauge({
    name: 'service_upstream_answers_waiting',
    help: 'Large upstream answers that wait for memory.',
    collect: (gauge) => gauge.set(memory.waiting),
  });
  return memory;
}
