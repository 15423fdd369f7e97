import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { useLanguage } from '../../preferences/language.tsx';
import { colorOf, formatValue, plotData, plotOptions, timeOf, type Plot } from './plot-options.ts';
import { usePalette } from './use-palette.ts';

interface CanvasProps {
  readonly title: string;
  readonly plot: Plot;
  readonly height: number;
}

/** The drawn chart with its legend. */
export function Canvas({ title, plot, height }: CanvasProps) {
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
