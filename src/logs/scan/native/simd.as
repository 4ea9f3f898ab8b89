export * from './plain'
