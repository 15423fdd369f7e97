import { estimateTokens } from '@model-gateway/billing';
import { tryParseJson } from '@model-gateway/kernel';
import { UpstreamFailure, type RelayedAnswer } from '@model-gateway/router';
import { errorOf } from '../stream/chunk-fields.ts';
import { answerBytes } from './answer-bytes.ts';
import type { AnswerReader, AnswerReaderOptions } from './answer-reader.ts';
import { reportedUnits, reportedUsage, tokenUsage } from './reported-usage.ts';
import { createTopFields, type TopFields } from './top-fields.ts';

/** A larger answer, as of images, passes while it arrives. */
const WHOLE_BYTES_MAX = 1024 * 1024;
const READ_FIELDS = ['usage', 'meta', 'text', 'duration'];
/** The images of an answer. */
const IMAGES = 'data';

interface JsonReaderOptions extends AnswerReaderOptions {
  /** Whether an answer that is not JSON is a failure. */
  readonly mustBeJson: boolean;
}

/**
 * Reads an answer in JSON. One of usual size is read to its end before the client gets anything, so that a broken answer can be
 * retried and a good one is metered first.
 */
export function readJsonAnswer(
  answer: RelayedAnswer,
  { operation, onFirstByte, mustBeJson }: JsonReaderOptions,
): AnswerReader {
  const source = answerBytes(answer);
  let whole: Buffer | undefined;
  let json: unknown;
  let large: TopFields | undefined;

  async function begin(): Promise<Buffer | undefined> {
    const chunks: Buffer[] = [];
    let size = 0;
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
      if (chunks.length === 0) onFirstByte?.();
      chunks.push(chunk);
      size += chunk.length;
      if (size > WHOLE_BYTES_MAX) {
        large = createTopFields(READ_FIELDS);
        return passed(Buffer.concat(chunks), large);
      }
    }
    whole = Buffer.concat(chunks);
    json = tryParseJson(whole.toString('utf8'));
    if (mustBeJson && (typeof json !== 'object' || json === null)) throw notJson();
    const error = errorOf(json);
    if (error !== undefined) throw errorAnswer(answer.cleanMessage(error));
    return whole;
  }

  const generatedTokens = (): number => estimateTokens(operation.textOf(large?.fields ?? json));

  return {
    contentType: answer.contentType,
    get length() {
      return whole?.length;
    },
    async next() {
      if (whole !== undefined) return undefined;
      if (large === undefined) return begin();
      const chunk = await source.next();
      return chunk === undefined ? undefined : passed(chunk, large);
    },
    leave: () => source.leave(),
    get generatedTokens() {
      return generatedTokens();
    },
    get reported() {
      // 0 means that the images are in another field: the requested number counts then, as for an answer that is parsed.
      const counted = large?.objectsIn(IMAGES) || undefined;
      return reportedUnits(operation, large?.fields ?? json, counted);
    },
    usage: ({ promptTokens }) =>
      reportedUsage(large?.fields ?? json) ?? tokenUsage(promptTokens(), generatedTokens()),
  };
}

function passed(chunk: Buffer, fields: TopFields): Buffer {
  fields.add(chunk);
  return chunk;
}

const notJson = (): UpstreamFailure =>
  new UpstreamFailure('the upstream response is not JSON', {
    isBackendAtFault: true,
    wasUnreadable: true,
  });

/** Some upstreams answer an error with the status of a success. */
const errorAnswer = (message: string): UpstreamFailure =>
  new UpstreamFailure(`the upstream answered an error: ${message}`, {
    isBackendAtFault: true,
    wasAnswered: true,
    loggedAs: 'the upstream answered an error with the status of a success',
  });
