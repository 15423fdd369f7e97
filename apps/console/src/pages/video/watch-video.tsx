import { useLanguage } from '../../preferences/language.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface WatchVideoProps {
  readonly url: string;
  readonly onClose: () => void;
}

/** Plays the result of a job. */
export function WatchVideo({ url, onClose }: WatchVideoProps) {
  const { t } = useLanguage();
  return (
    <Dialog isOpen onClose={onClose} title={t('video.watch.title')}>
      <video className="video-player" src={url} controls />
      <p>
        <a href={url} target="_blank" rel="noreferrer">
          {t('video.result')}
        </a>
      </p>
    </Dialog>
  );
}
