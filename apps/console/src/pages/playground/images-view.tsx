import { X } from 'lucide-react';
import { useLanguage } from '../../preferences/language.tsx';
import { IconButton } from '../../ui/button.tsx';

interface ImagesProps {
  readonly images: readonly string[];
  /** Leaves one out, by its place. */
  readonly onRemove?: (place: number) => void;
}

/** The images of a question. */
export function Images({ images, onRemove }: ImagesProps) {
  const { t } = useLanguage();
  if (images.length === 0) return null;
  return (
    <ul className="turn-images">
      {images.map((image, place) => (
        <li key={place}>
          <img src={image} alt={t('playground.image', { number: place + 1 })} />
          {onRemove === undefined ? null : (
            <IconButton
              className="button-small"
              label={t('playground.image.remove', { number: place + 1 })}
              onClick={() => onRemove(place)}
            >
              <X aria-hidden size={12} />
            </IconButton>
          )}
        </li>
      ))}
    </ul>
  );
}
