import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useLanguage } from '../preferences/language.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';
import { ErrorNote } from '../ui/error-note.tsx';

/** Shown in place of a page that failed; the frame around it goes on. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const { t } = useLanguage();
  const router = useRouter();
  return (
    <Page title={t('error.page')}>
      <ErrorNote
        error={error}
        onRetry={() => {
          reset();
          void router.invalidate();
        }}
      />
    </Page>
  );
}

export function NotFoundPage() {
  const { t } = useLanguage();
  return (
    <Page title={t('error.not_found')}>
      <Empty text={t('error.not_found.remedy')} />
    </Page>
  );
}

/** For a page that the viewer has no right to. */
export function AdminOnly() {
  const { t } = useLanguage();
  return (
    <Page title={t('frame.admin_only')}>
      <Empty text={t('frame.admin_only.remedy')} />
    </Page>
  );
}
