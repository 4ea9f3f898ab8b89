import { defineCheck } from '../../core/check.ts'
import { judgeClocks } from '../../domain/clocks.ts'

export const serviceClocks = defineCheck({
  id: 'service/clocks',
  title: 'clocks agree',
  reads: [],
  wants: ['database', 'sessions', 'api'],
  explains: ['sessions/clock', 'api/token'],
  run: judgeClocks,
})
