import type { RpcNotification, RpcNotificationParams } from '@model-gateway/contracts';
import type { ChatDelta, TurnEnd } from '@model-gateway/inference';

/** Why a turn failed. */
export interface ChatFailure {
  readonly code: number;
  readonly message: string;
  /** The error of the upstream, if there was one. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The notifications of one turn, as JSON text. */
export interface ChatNotifications {
  delta(delta: ChatDelta): string;
  end(end: TurnEnd): string;
  failure(error: ChatFailure): string;
}

export function createChatNotifications(streamId: string): ChatNotifications {
  // A turn has hundreds of these, and only the token differs.
  const beforeToken = `{"jsonrpc":"2.0","method":"chat.stream","params":{"stream_id":${JSON.stringify(streamId)},"token":`;
  const afterToken = ',"is_complete":false}}';
  return {
    delta({ token, toolCalls }) {
      if (toolCalls === undefined) return beforeToken + JSON.stringify(token) + afterToken;
      return textOf({
        stream_id: streamId,
        token,
        is_complete: false,
        tool_calls: [...toolCalls],
      });
    },
    end: ({ finishReason, usage, model, messageId }) =>
      textOf({
        stream_id: streamId,
        token: '',
        is_complete: true,
        finish_reason: finishReason,
        usage,
        model,
        ...(messageId === undefined ? {} : { message_id: messageId }),
      }),
    failure: ({ code, message, data }) =>
      textOf({
        stream_id: streamId,
        token: `Stream error: ${message}`,
        is_complete: true,
        error: { code, message, ...(data === undefined ? {} : { data }) },
      }),
  };
}

function textOf(params: RpcNotificationParams<'chat.stream'>): string {
  const notification: RpcNotification = { jsonrpc: '2.0', method: 'chat.stream', params };
  return JSON.stringify(notification);
}
