import { Search } from 'lucide-react';
import { useLanguage } from '../preferences/language.tsx';
import { Button, IconButton } from '../ui/button.tsx';

interface SearchButtonProps {
  readonly onOpen: () => void;
  /** Whether it is only an icon. */
  readonly isSmall?: boolean;
}

export function SearchButton({ onOpen, isSmall = false }: SearchButtonProps) {
  const { t } = useLanguage();
  return isSmall ? (
    <IconButton label={t('frame.search')} onClick={onOpen}>
      <Search aria-hidden size={18} />
    </IconButton>
  ) : (
    <Button className="search-button" onClick={onOpen} aria-keyshortcuts="Control+K">
      <Search aria-hidden size={14} /> {t('frame.search')} <kbd>Ctrl K</kbd>
    </Button>
  );
}
