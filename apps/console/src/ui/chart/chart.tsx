import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { ChartColumn, Table2 } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { useLanguage } from '../../preferences/language.tsx';
import { IconButton } from '../button.tsx';
import { Skeleton } from '../page.tsx';
import { colorOf, formatValue, plotData, plotOptions, timeOf, type Plot } from './plot-options.ts';
import { usePalette } from './use-palette.ts';

interface ChartProps {
  readonly title: string;
  readonly plot: Plot;
  readonly height?: number;
}

const HEIGHT = 200;

// Most people look at the chart only.
const ChartTable = lazy(async () => ({ default: (await import('./chart-table.tsx')).ChartTable }));

/** A chart over time with its legend, and the same numbers as a table. */
export function Chart({ title, plot, height = HEIGHT }: ChartProps) {
  const { t } = useLanguage();
  const [isTable, setTable] = useState(false);
  const Icon = isTable ? ChartColumn : Table2;
  return (
    <section className="chart" aria-label={title}>
      <header className="chart-head">
        <h2 className="chart-title">{title}</h2>
        <IconButton
          label={t(isTable ? 'chart.as_chart' : 'chart.as_table')}
          onClick={() => setTable(!isTable)}
        >
          <Icon aria-hidden size={16} />
        </IconButton>
      </header>
      {isTable ? (
        <Suspense fallback={<Skeleton />}>
          <ChartTable title={title} plot={plot} />
        </Suspense>
      ) : (
        <Canvas title={title} plot={plot} height={height} />
      )}
    </section>
  );
}

function Canvas({ title, plot, height }: Required<ChartProps>) {
  const { format } = useLanguage();
  const palette = usePalette();
  const host = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<number>();
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const options = plotOptions(plot, {
      palette,
      format,
      width: element.clientWidth,
      height,
      onHover: setHovered,
    });
    const chart = new uPlot(options, plotData(plot), element);
    const onMove = (): void => setLeft((chart.cursor.left ?? 0) + chart.over.offsetLeft);
    chart.over.addEventListener('mousemove', onMove);
    const resizes = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    resizes.observe(element);
    return () => {
      resizes.disconnect();
      chart.destroy();
    };
  }, [plot, palette, format, height]);
  const index = hovered !== undefined && hovered < plot.times.length ? hovered : undefined;
  return (
    <>
      <div className="chart-area">
        <div ref={host} role="img" aria-label={title} style={{ minHeight: height }} />
        {index === undefined ? null : (
          <Values
            plot={plot}
            index={index}
            isAtEnd={left > (host.current?.clientWidth ?? 0) / 2}
            left={left}
          />
        )}
      </div>
      <ul className="chart-legend">
        {plot.series.map(({ name }, place) => (
          <li key={place}>
            <span
              className="chart-mark"
              style={{ background: colorOf(palette, plot.series, place) }}
              aria-hidden
            />
            {name}
          </li>
        ))}
      </ul>
    </>
  );
}

interface ValuesProps {
  readonly plot: Plot;
  readonly index: number;
  readonly left: number;
  readonly isAtEnd: boolean;
}

/** All values at the time below the pointer. */
function Values({ plot, index, left, isAtEnd }: ValuesProps) {
  const { format } = useLanguage();
  const palette = usePalette();
  return (
    <div
      className="chart-values"
      style={{ left, transform: isAtEnd ? 'translateX(calc(-100% - 12px))' : 'translateX(12px)' }}
    >
      <strong>{timeOf(format, plot, index)}</strong>
      {plot.series.map(({ name, values }, place) => {
        const value = values[index];
        return value === null || value === undefined ? null : (
          <div key={place} className="chart-value">
            <span
              className="chart-mark"
              style={{ background: colorOf(palette, plot.series, place) }}
              aria-hidden
            />
            <span className="chart-name">{name}</span>
            <span>{formatValue(format, plot.unit, value)}</span>
          </div>
        );
      })}
    </div>
  );
}
