import { useLanguage } from '../preferences/language.tsx';

/** In the place of the buttons that would change something: calls do not change what comes from the configuration file. */
export function FromFile() {
  const { t } = useLanguage();
  return <span className="card-note">{t('state.from_file')}</span>;
}
