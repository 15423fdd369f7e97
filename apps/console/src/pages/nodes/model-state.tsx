import { useLanguage } from '../../preferences/language.tsx';
import { Badge } from '../../ui/badge.tsx';

const STATES = {
  pulling: 'neutral',
  loading: 'neutral',
  ready: 'good',
  failed: 'bad',
  ignored: 'warning',
} as const;

/** The state of a model on a node; one that is not known is shown as it came. */
export function ModelState({ status }: { readonly status: string }) {
  const { t } = useLanguage();
  if (!isKnown(status)) return <Badge state="neutral">{status}</Badge>;
  return <Badge state={STATES[status]}>{t(`nodes.status.${status}`)}</Badge>;
}

const isKnown = (status: string): status is keyof typeof STATES => Object.hasOwn(STATES, status);
