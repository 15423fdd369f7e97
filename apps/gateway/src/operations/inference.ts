import {
  chatCompletionSchema,
  chatRequestSchema,
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
import { z } from 'zod';
import { messagesOperations } from './messages.ts';
import { CHUNK_STREAM, inferenceHeaders, type Operation } from './operation.ts';
import { responsesOperations } from './responses.ts';

const audioSchema = z.file();

/** An API that passes to backends with its capability. */
const passed = { method: 'post', security: ['apiKey'], headers: inferenceHeaders } as const;
const prompt = { model: 'demo-chat', prompt: 'A boat on a calm sea.' };
const input = { model: 'demo-chat', input: 'A boat on a calm sea.' };
const upload = { ...passed, request: uploadFormSchema, requestType: 'multipart/form-data' };

/** The operations that reach a model, or tell which there are. */
export const inferenceOperations: readonly Operation[] = [
  {
    ...passed,
    id: 'createChatCompletion',
    path: '/v1/chat/completions',
    summary: 'A chat turn, streamed or not.',
    request: chatRequestSchema,
    example: {
      model: 'demo-chat',
      messages: [{ role: 'user', content: 'Say hello in five words.' }],
    },
    response: chatCompletionSchema,
    streams: CHUNK_STREAM,
  },
  ...messagesOperations,
  ...responsesOperations,
  {
    ...passed,
    id: 'createEmbeddings',
    path: '/v1/embeddings',
    summary: 'Embedding vectors of texts.',
    request: embeddingsRequestSchema,
    example: { ...input, model: 'demo-embed' },
    response: embeddingListSchema,
  },
  {
    ...passed,
    id: 'createCompletion',
    path: '/v1/completions',
    summary: 'A text completion, streamed or not.',
    request: completionsRequestSchema,
    example: prompt,
    response: textCompletionSchema,
    streams: CHUNK_STREAM,
  },
  {
    ...passed,
    id: 'rerank',
    path: '/v1/rerank',
    summary: 'Sort documents by their relevance for a query.',
    request: rerankRequestSchema,
    example: {
      model: 'demo-chat',
      query: 'a calm sea',
      documents: ['A storm at night.', 'A boat on a calm sea.'],
    },
    response: rerankAnswerSchema,
  },
  {
    ...passed,
    id: 'createModeration',
    path: '/v1/moderations',
    summary: 'Classify texts and images as harmful or not.',
    request: moderationsRequestSchema,
    example: input,
    response: moderationsAnswerSchema,
  },
  {
    ...passed,
    id: 'createImage',
    path: '/v1/images/generations',
    summary: 'Images from a text.',
    request: imagesRequestSchema,
    example: prompt,
    response: imagesAnswerSchema,
    streams: 'An `event:` and a `data:` line per image, partial or complete.',
  },
  {
    ...passed,
    id: 'createSpeech',
    path: '/v1/audio/speech',
    summary: 'Speech from a text.',
    request: speechRequestSchema,
    example: input,
    response: audioSchema,
    responseType: 'audio/*',
  },
  {
    ...upload,
    id: 'createTranscription',
    path: '/v1/audio/transcriptions',
    summary: 'The text of an audio file.',
    response: transcriptionSchema,
    streams: 'A `data:` line per piece of the text.',
  },
  {
    ...upload,
    id: 'createTranslation',
    path: '/v1/audio/translations',
    summary: 'The text of an audio file, in English.',
    response: transcriptionSchema,
  },
  {
    id: 'createVideo',
    method: 'post',
    path: '/v1/video/generations',
    summary: 'Submit a video job; progress is published on the event stream with the job id.',
    security: ['apiKey'],
    headers: {
      'idempotency-key': 'At most 200 characters; repeating the same value creates no second job.',
    },
    request: videoRequestSchema,
    response: videoSubmittedSchema,
  },
  {
    id: 'getVideo',
    method: 'get',
    path: '/v1/video/generations/{id}',
    summary: 'A video job.',
    security: ['apiKey'],
    response: videoJobSchema,
  },
  {
    id: 'listModels',
    method: 'get',
    path: '/v1/models',
    summary: 'List the available models.',
    security: ['apiKey', 'accessToken'],
    response: modelListSchema,
  },
  {
    id: 'getModel',
    method: 'get',
    path: '/v1/models/{id}',
    summary: 'One available model.',
    security: ['apiKey', 'accessToken'],
    response: modelEntrySchema,
  },
];
