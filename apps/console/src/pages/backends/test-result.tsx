import type { RpcResult } from '@model-gateway/contracts';
import { CircleAlert, CircleCheck } from 'lucide-react';
import { useLanguage } from '../../preferences/language.tsx';
import { revealInDialog } from '../../ui/reveal-in-dialog.ts';

/** What a test found, and what a failed one means. */
export function TestResult({ result }: { readonly result: RpcResult<'backends.test'> }) {
  const { t, format } = useLanguage();
  const { status, probe, chat } = result;
  const isOk = status === 'ok';
  return (
    <div className={isOk ? 'note note-good' : 'note note-error'} role="status" ref={revealInDialog}>
      {isOk ? (
        <CircleCheck aria-hidden size={18} className="note-icon note-icon-good" />
      ) : (
        <CircleAlert aria-hidden size={18} className="note-icon" />
      )}
      <div className="note-body">
        <strong>{t(isOk ? 'backends.test.ok' : 'backends.test.failed')}</strong>
        {probe.state === 'Unhealthy' ? null : (
          <p>{t('backends.test.probe', { time: format.duration(probe.latency_ms) })}</p>
        )}
        {probe.reason === null ? null : <p className="note-message">{probe.reason}</p>}
        <p className="note-message">{chatText()}</p>
        {isOk ? null : <p>{t('backends.test.meaning')}</p>}
      </div>
    </div>
  );

  function chatText(): string {
    const reason = chat.reason ?? '';
    if (chat.status === 'skipped') return t('backends.test.chat_skipped', { reason });
    const model = chat.model ?? '';
    if (chat.status === 'failed') return t('backends.test.chat_failed', { model, reason });
    const time = format.duration(chat.latency_ms ?? 0);
    return t('backends.test.chat', { model, time, text: chat.text ?? '' });
  }
}
