import {
  completionsRequestSchema,
  embeddingListSchema,
  embeddingsRequestSchema,
  imagesAnswerSchema,
  imagesRequestSchema,
  modelEntrySchema,
  modelListSchema,
  moderationsAnswerSchema,
  moderationsRequestSchema,
  rerankAnswerSchema,
  rerankRequestSchema,
  speechRequestSchema,
  textCompletionSchema,
  transcriptionSchema,
  uploadFormSchema,
  videoJobSchema,
  videoRequestSchema,
  videoSubmittedSchema,
} from '@model-gateway/contracts';
import { chatApi, CLIENT_APIS } from '@model-gateway/dialects';
import { z } from 'zod';
import { messages } from './messages.ts';
import { inferenceHeaders, named, operations } from './operation.ts';
import { responses } from './responses.ts';

const audioSchema = z.file();

/** An API that passes to backends with its capability. */
const relayed = { method: 'post', security: ['apiKey'], headers: inferenceHeaders } as const;
const prompt = { model: 'demo-chat', prompt: 'A boat on a calm sea.' };
const input = { model: 'demo-chat', input: 'A boat on a calm sea.' };
const upload = {
  ...relayed,
  request: named('UploadForm', uploadFormSchema),
  requestType: 'multipart/form-data',
};

const besides = Object.entries({ ...messages, ...responses });

/** The turns of each API that clients speak, and behind them what else it has. */
const apis = operations(
  Object.fromEntries(
    CLIENT_APIS.flatMap(({ dialect: _dialect, id, ...described }) => [
      [id, { ...relayed, ...described }] as const,
      ...besides.filter(([, { path }]) => path.startsWith(`${described.path}/`)),
    ]),
  ),
);

/** The operations that reach a model, or tell which there are. */
export const inference = operations({
  ...apis,
  ...messages,
  ...responses,
  createEmbeddings: {
    ...relayed,
    path: '/v1/embeddings',
    summary: 'Embedding vectors of texts.',
    request: named('EmbeddingsRequest', embeddingsRequestSchema),
    example: { ...input, model: 'demo-embed' },
    response: named('EmbeddingList', embeddingListSchema),
  },
  createCompletion: {
    ...relayed,
    path: '/v1/completions',
    summary: 'A text completion, streamed or not.',
    request: named('CompletionRequest', completionsRequestSchema),
    example: prompt,
    response: named('TextCompletion', textCompletionSchema),
    streams: chatApi.streams,
  },
  rerank: {
    ...relayed,
    path: '/v1/rerank',
    summary: 'Sort documents by their relevance for a query.',
    request: named('RerankRequest', rerankRequestSchema),
    example: {
      model: 'demo-chat',
      query: 'a calm sea',
      documents: ['A storm at night.', 'A boat on a calm sea.'],
    },
    response: named('Ranking', rerankAnswerSchema),
  },
  createModeration: {
    ...relayed,
    path: '/v1/moderations',
    summary: 'Classify texts and images as harmful or not.',
    request: named('ModerationRequest', moderationsRequestSchema),
    example: input,
    response: named('Moderation', moderationsAnswerSchema),
  },
  createImage: {
    ...relayed,
    path: '/v1/images/generations',
    summary: 'Images from a text.',
    request: named('ImageRequest', imagesRequestSchema),
    example: prompt,
    response: named('Images', imagesAnswerSchema),
    streams: 'An `event:` and a `data:` line per image, partial or complete.',
  },
  createSpeech: {
    ...relayed,
    path: '/v1/audio/speech',
    summary: 'Speech from a text.',
    request: named('SpeechRequest', speechRequestSchema),
    example: input,
    response: audioSchema,
    responseType: 'audio/*',
  },
  createTranscription: {
    ...upload,
    path: '/v1/audio/transcriptions',
    summary: 'The text of an audio file.',
    response: named('Transcription', transcriptionSchema),
    streams: 'A `data:` line per piece of the text.',
  },
  createTranslation: {
    ...upload,
    path: '/v1/audio/translations',
    summary: 'The text of an audio file, in English.',
    response: named('Transcription', transcriptionSchema),
  },
  createVideo: {
    method: 'post',
    path: '/v1/video/generations',
    summary: 'Submit a video job; progress is published on the event stream with the job id.',
    security: ['apiKey'],
    headers: {
      'idempotency-key': 'At most 200 characters; repeating the same value creates no second job.',
    },
    request: named('VideoRequest', videoRequestSchema),
    response: named('VideoSubmitted', videoSubmittedSchema),
  },
  getVideo: {
    method: 'get',
    path: '/v1/video/generations/{id}',
    summary: 'A video job.',
    security: ['apiKey'],
    response: named('VideoJob', videoJobSchema),
  },
  listModels: {
    method: 'get',
    path: '/v1/models',
    summary: 'List the available models.',
    security: ['apiKey', 'accessToken'],
    response: named('ModelList', modelListSchema),
  },
  getModel: {
    method: 'get',
    path: '/v1/models/{id}',
    summary: 'One available model.',
    security: ['apiKey', 'accessToken'],
    response: named('Model', modelEntrySchema),
  },
});
