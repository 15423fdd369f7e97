declare module 'parse-prometheus-text-format' {
  /** One metric as it is exposed. */
  interface Family {
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly metrics: readonly unknown[];
  }
  export default function parsePrometheusText(text: string): readonly Family[];
}
