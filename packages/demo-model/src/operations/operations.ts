import { createChat } from '../chat/chat.ts';
import { complete } from './completions.ts';
import { embed } from './embeddings.ts';
import { generateImages } from './images.ts';
import { moderate } from './moderations.ts';
import type { Operation } from './operation.ts';
import { rerank } from './rerank.ts';
import { speak } from './speech.ts';
import { transcribe } from './transcription.ts';

/** Every operation, by its name. */
export const OPERATIONS = {
  chat: createChat(),
  embeddings: embed,
  completions: complete,
  rerank,
  moderations: moderate,
  images: generateImages,
  speech: speak,
  transcription: transcribe,
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof OPERATIONS;

/** The operations by their paths below the base path. */
export const OPERATION_PATHS: Readonly<Record<string, OperationName>> = {
  '/chat/completions': 'chat',
  '/embeddings': 'embeddings',
  '/completions': 'completions',
  '/rerank': 'rerank',
  '/moderations': 'moderations',
  '/images/generations': 'images',
  '/audio/speech': 'speech',
  '/audio/transcriptions': 'transcription',
  '/audio/translations': 'transcription',
};
