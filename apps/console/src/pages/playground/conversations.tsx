import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Confirm, SidePanel } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { PAGE_ROWS, TablePages } from '../../ui/table-pages.tsx';

interface ConversationsProps {
  readonly onClose: () => void;
  readonly onOpen: (id: string) => void;
}

/** The conversations that the server keeps. */
export function Conversations({ onClose, onOpen }: ConversationsProps) {
  const { t, format } = useLanguage();
  const api = useApi();
  const list = useQuery(api.query('conversations.list'));
  const remove = useCall('conversations.delete', { changes: ['conversations.list'] });
  const [page, setPage] = useState(0);
  const count = list.data?.length ?? 0;
  const start = Math.min(page, Math.max(0, Math.ceil(count / PAGE_ROWS) - 1)) * PAGE_ROWS;
  const shown = list.data?.slice(start, start + PAGE_ROWS) ?? [];
  const [removing, setRemoving] = useState<{ readonly id: string; readonly title: string }>();
  return (
    <SidePanel isOpen onClose={onClose} title={t('playground.conversations')}>
      <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending ? <Skeleton /> : null}
      {list.data?.length === 0 ? <Empty text={t('playground.conversations.none')} /> : null}
      <ul className="conversations">
        {shown.map((conversation) => {
          const { id, title, updated_at: time, message_count: messages } = conversation;
          return (
            <li key={id}>
              <button type="button" className="conversation" onClick={() => onOpen(id)}>
                {title}
                <small>
                  {t('playground.conversations.messages', { count: messages })} ·{' '}
                  {format.relative(time)}
                </small>
              </button>
              <IconButton
                label={t('playground.conversations.delete', { title })}
                onClick={() => setRemoving({ id, title })}
              >
                <Trash2 aria-hidden size={14} />
              </IconButton>
            </li>
          );
        })}
      </ul>
      {count > PAGE_ROWS ? (
        <TablePages
          label={t('playground.conversations')}
          page={start / PAGE_ROWS}
          count={count}
          onChange={setPage}
        />
      ) : null}
      {removing === undefined ? null : (
        <Confirm
          isOpen
          onClose={() => setRemoving(undefined)}
          title={t('playground.conversations.delete', { title: removing.title })}
          text={t('playground.conversations.delete.text')}
          action={t('playground.conversations.delete.submit')}
          isPending={remove.isPending}
          error={remove.error}
          onConfirm={() =>
            remove.mutate(
              { conversation_id: removing.id },
              { onSuccess: () => setRemoving(undefined) },
            )
          }
        />
      )}
    </SidePanel>
  );
}
