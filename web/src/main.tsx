import './look/base.css'
import './look/parts.css'
import './look/screens.css'
import './look/files.css'
import { render } from 'preact'
import { App } from './app'
import { keepOffline } from './service/page'

const root = document.getElementById('app')
if (root) render(<App />, root)
void keepOffline()
