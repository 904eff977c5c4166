// Search when the site is opened from the disk: browsers refuse to start a worker from file://,
// so the script of the worker runs in a hidden frame, behind the interface of a worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const view = this.frame.contentWindow
      view.document.open()
      view.document.write("<!doctype html><body>")
      view.document.close()
      view.postMessage = data =>
        setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })))
      view.importScripts = (...urls) => Promise.all(urls.map(one => this.load(one)))
      this.ready = this.load(url)
    }

    load(url) {
      const { document } = this.frame.contentWindow
      return new Promise((resolve, reject) => {
        const script = document.createElement("script")
        script.onload = resolve
        script.onerror = () => reject(new Error(`cannot load ${url}`))
        script.src = url
        document.body.appendChild(script)
      })
    }

    async postMessage(data) {
      await this.ready
      const view = this.frame.contentWindow
      view.dispatchEvent(new view.MessageEvent("message", { data }))
    }

    set onmessage(listener) {
      this.addEventListener("message", listener)
    }

    terminate() {
      this.frame.remove()
    }
  }
}
