import uPlot from 'uplot';
import type { Format } from '../../format/format.ts';
import {
  bucketAt,
  stackedValues,
  WHOLE_STEPS,
  type ChartSeries,
  type ChartUnit,
} from './chart-data.ts';
import type { Palette } from './use-palette.ts';

/** What a chart shows. */
export interface Plot {
  readonly kind: 'bars' | 'lines';
  readonly unit: ChartUnit;
  /** The moments in milliseconds; of bars, where each begins. */
  readonly times: readonly number[];
  readonly from: number;
  readonly to: number;
  /** Days are days of UTC, as the service counts them. */
  readonly isByDay: boolean;
  readonly series: readonly ChartSeries[];
}

const TIME_LABEL_PX = 88;
const SECOND_MS = 1000;
const MINUTE_SECS = 60;
const DAY_SECS = 86_400;
/** Room above the highest value. */
const HEADROOM = 1.1;
const BAR_WIDTH_MAX = 40;

/** The color of a series; the last color, gray, is for the rest. */
export function colorOf(palette: Palette, series: readonly ChartSeries[], index: number): string {
  const last = palette.series.length - 1;
  const place = series[index]?.isRest === true ? last : Math.min(index, last);
  return palette.series[place] ?? palette.text;
}

/** A value as the axis, the tooltip and the table show it. */
export function formatValue(format: Format, unit: ChartUnit, value: number): string {
  if (unit === 'money') return format.money(value);
  if (unit === 'duration') return format.duration(Math.round(value));
  return value >= 10_000 ? format.compact(value) : format.number(value);
}

/** The data in the form of the library. */
export const plotData = ({ kind, times, series }: Plot): uPlot.AlignedData =>
  [
    times.map((time) => time / SECOND_MS),
    ...(kind === 'bars' ? stackedValues(series) : series.map(({ values }) => values)),
  ] as uPlot.AlignedData;

interface PlotSetting {
  readonly palette: Palette;
  readonly format: Format;
  readonly width: number;
  readonly height: number;
  readonly onHover: (index: number | undefined) => void;
}

export function plotOptions(plot: Plot, setting: PlotSetting): uPlot.Options {
  const { palette, format, width, height, onHover } = setting;
  const { kind, unit, times, from, to, isByDay, series } = plot;
  const axis = {
    stroke: palette.text,
    font: palette.font,
    ticks: { stroke: palette.line, width: 1, size: 4 },
    grid: { stroke: palette.line, width: 1 },
  };
  const label = (value: number): string => formatValue(format, unit, value);
  return {
    width,
    height,
    ...(isByDay
      ? { tzDate: (time: number) => uPlot.tzDate(new Date(time * SECOND_MS), 'Etc/UTC') }
      : {}),
    legend: { show: false },
    cursor: {
      drag: { x: false, y: false },
      points: { show: kind === 'lines' },
      y: false,
      ...(kind === 'bars'
        ? {
            dataIdx: (self: uPlot, _series: number, _closest: number, time: number) =>
              bucketAt(self.data[0] as unknown as number[], time),
          }
        : {}),
    },
    scales: {
      x: { time: true, range: () => [from / SECOND_MS, to / SECOND_MS] },
      y: { range: (_self, _min, max) => [0, (max > 0 ? max : 1) * HEADROOM] },
    },
    axes: [
      {
        ...axis,
        // As wide as the longest label, a clock time with seconds.
        space: TIME_LABEL_PX,
        grid: { show: false },
        values: (_self, splits, _index, _space, step) =>
          splits.map((split) => timeLabel(format, split, step, isByDay)),
      },
      {
        ...axis,
        size: (self, values) => axisWidth(self, values ?? [], palette.font),
        values: (_self, splits) => splits.map(label),
        ...(unit === 'count' ? { incrs: [...WHOLE_STEPS] } : {}),
      },
    ],
    series: [
      {},
      ...series.map((_, place): uPlot.Series => {
        const index = kind === 'bars' ? series.length - 1 - place : place;
        const color = colorOf(palette, series, index);
        return kind === 'bars'
          ? {
              stroke: color,
              fill: color,
              width: 0,
              points: { show: false },
              ...barPaths(),
            }
          : {
              stroke: color,
              width: 2,
              spanGaps: true,
              points: { show: times.length < 2, size: 6, fill: color },
            };
      }),
    ],
    hooks: {
      setCursor: [(self) => onHover(self.cursor.idx ?? undefined)],
    },
  };
}

/** Each bar is to the right of the moment at which its time begins. */
function barPaths(): Pick<uPlot.Series, 'paths'> {
  const paths = uPlot.paths.bars?.({ size: [0.8, BAR_WIDTH_MAX], align: 1 });
  return paths === undefined ? {} : { paths };
}

function timeLabel(format: Format, seconds: number, step: number, isByDay: boolean): string {
  const time = seconds * SECOND_MS;
  if (step >= DAY_SECS || isByDay) return format.shortDate(time, isByDay);
  const date = new Date(time);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return isMidnight ? format.shortDate(time, false) : format.clock(time, step < MINUTE_SECS);
}

/** As wide as the longest label, so that no number is cut off. */
function axisWidth(self: uPlot, values: readonly string[], font: string): number {
  const { ctx } = self;
  ctx.save();
  ctx.font = font;
  const widest = Math.max(0, ...values.map((value) => ctx.measureText(value).width));
  ctx.restore();
  return Math.ceil(widest) + 16;
}

/** The time of a bar or point, in words. */
export function timeOf(format: Format, { times, isByDay }: Plot, index: number): string {
  const time = times[index] ?? 0;
  return isByDay ? format.utcDate(time) : format.dateTime(time);
}
