import type { VideoJobStatus, VideoRequest, VideoResult } from '@model-gateway/contracts';
import type { Caller } from '../chat/caller.ts';

/** A video job as its owner may see it. */
export interface VideoJob {
  readonly id: string;
  readonly userId: string;
  /** As it was requested. */
  readonly model: string;
  readonly status: VideoJobStatus;
  /** 0–99 until it is done; it never decreases. */
  readonly progress: number;
  readonly result: VideoResult | null;
  readonly error: string | null;
  /** USD; 0 until it is done. */
  readonly cost: number;
  readonly createdAt: Date;
}

/** The request without the fields that are stored separately. */
export type VideoOrder = Omit<VideoRequest, 'model' | 'images'>;

/** An input image of a video. */
export interface VideoImage {
  readonly mimeType: string;
  readonly data: Uint8Array;
}

/** Who pays, as in the usage row. */
export type VideoPayer = Omit<Caller, 'modelPolicy'>;

/** A job with everything that is needed to submit it and to bill it. */
export interface VideoWork extends VideoJob {
  readonly payer: VideoPayer;
  /** The target of the model's alias when the job was created; it determines the price. */
  readonly resolvedModel: string;
  readonly order: VideoOrder;
  /** The models that the rules of its caller let it be made with; null where they refuse none. */
  readonly allowedModels: readonly string[] | null;
  /** The backend of its submission; null while it may go to any backend. */
  readonly backend: string | null;
  /** The backend's id of the model. */
  readonly servedModel: string | null;
  /** The task of a cancelled job that the upstream is still to be asked to cancel. */
  readonly cancelling: CancelledTask | null;
}

/** The task of a cancelled job. */
export interface CancelledTask {
  readonly backend: string;
  readonly taskId: string;
  readonly cancelledAt: Date;
}

/** A running job that is due for a poll of its upstream. */
export interface VideoPoll {
  readonly id: string;
  readonly backend: string;
  readonly taskId: string;
  readonly startedAt: Date;
}
