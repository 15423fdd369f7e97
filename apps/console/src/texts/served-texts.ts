import type { Language } from './texts.ts';

/** Translations of texts that the service serves in English; one that is not here is shown in English. */
export const SERVED_TEXTS: Partial<Record<Language, Readonly<Record<string, string>>>> = {
  de: {
    'API key': 'API-Schlüssel',
    'Header of the key': 'Header des Schlüssels',
    'Such as api-key. Leave it empty for the usual one.':
      'Zum Beispiel api-key. Leer lassen für den üblichen.',
    'Other APIs': 'Weitere APIs',
    'Requests of these APIs are passed on unchanged.':
      'Anfragen dieser APIs werden unverändert weitergegeben.',
    'OpenAI-compatible server or cloud': 'OpenAI-kompatibler Server oder Cloud',
    'OpenAI and everything that speaks its API: vLLM, llama.cpp, other clouds.':
      'OpenAI und alles, was dessen API spricht: vLLM, llama.cpp, andere Clouds.',
    'The Messages API of Anthropic, and servers that copy it.':
      'Die Messages-API von Anthropic und Server, die sie nachbilden.',
    'Deployments of Azure OpenAI.': 'Deployments von Azure OpenAI.',
    'The Gemini API.': 'Die Gemini-API.',
    'Ollama and servers with its API.': 'Ollama und Server mit dessen API.',
    'Engine over WebSocket': 'Engine über WebSocket',
    'An engine of your own, over one WebSocket.': 'Eine eigene Engine, über einen WebSocket.',
    'Video cloud': 'Video-Cloud',
    'A video API with tasks, in the manner of MiniMax.':
      'Eine Video-API mit Aufträgen, nach Art von MiniMax.',
    'GPU node': 'GPU-Knoten',
  },
  'zh-Hans': {
    'API key': 'API 密钥',
    'Header of the key': '密钥的请求头',
    'Such as api-key. Leave it empty for the usual one.': '例如 api-key。留空则使用默认请求头。',
    'Other APIs': '其他 API',
    'Requests of these APIs are passed on unchanged.': '这些 API 的请求会原样转发。',
    'OpenAI-compatible server or cloud': 'OpenAI 兼容的服务器或云',
    'OpenAI and everything that speaks its API: vLLM, llama.cpp, other clouds.':
      'OpenAI 以及所有兼容其 API 的服务：vLLM、llama.cpp、其他云。',
    'The Messages API of Anthropic, and servers that copy it.':
      'Anthropic 的 Messages API 以及兼容它的服务器。',
    'Deployments of Azure OpenAI.': 'Azure OpenAI 的部署。',
    'The Gemini API.': 'Gemini API。',
    'Ollama and servers with its API.': 'Ollama 以及兼容其 API 的服务器。',
    'Engine over WebSocket': '通过 WebSocket 的引擎',
    'An engine of your own, over one WebSocket.': '您自己的引擎，通过一个 WebSocket 连接。',
    'Video cloud': '视频云',
    'A video API with tasks, in the manner of MiniMax.': '以任务方式工作的视频 API，类似 MiniMax。',
    'GPU node': 'GPU 节点',
  },
};
