import type { Clock, Log } from '@model-gateway/kernel';
import { UpstreamFailure, type RelayedAnswer } from '@model-gateway/router';
import { answerBytes } from './answer-bytes.ts';
import type { AnswerReader, AnswerReaderOptions } from './answer-reader.ts';
import { streamsText } from './relayed-call.ts';
import { hasEvents, readByteAnswer, readRelayedEvents } from './byte-answer.ts';
import { readEventAnswer } from './event-answer.ts';
import { readJsonAnswer } from './json-answer.ts';

interface AnswerReaderDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

/** A page: no model answers one, but proxies do, some of them with the status of a success. */
const PAGE_TYPE = /^text\/html/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json/i;
/** The APIs that answer nothing else, apart from events; an answer of another type is that of some proxy. */
const JSON_CAPABILITIES: ReadonlySet<string> = new Set([
  'completions',
  'rerank',
  'moderations',
  'images',
]);

/** Reads an answer by its type. */
export function readAnswer(
  answer: RelayedAnswer,
  options: AnswerReaderOptions,
  dependencies: AnswerReaderDependencies,
): AnswerReader {
  const { operation, fields } = options;
  if (streamsText({ operation, fields })) {
    return readEventAnswer(answer, { ...options, ...dependencies });
  }
  if (hasEvents(answer)) return readRelayedEvents(answer);
  const mustBeJson = JSON_CAPABILITIES.has(operation.capability);
  if (mustBeJson || JSON_TYPE.test(answer.contentType))
    return readJsonAnswer(answer, { ...options, mustBeJson });
  if (PAGE_TYPE.test(answer.contentType)) throw pageAnswer(answer);
  return readByteAnswer(answer);
}

function pageAnswer(answer: RelayedAnswer): UpstreamFailure {
  answerBytes(answer).leave();
  return new UpstreamFailure('the upstream answered with a web page (text/html)', {
    isBackendAtFault: true,
    wasUnreadable: true,
  });
}
