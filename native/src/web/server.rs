//! Connections: taken, answered, and brought to a good end.

use crate::web::service::Service;
use crate::web::tls::Tls;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Serves until `is_over`, which is asked several times a second; then answers that are on their way may still arrive.
///
/// # Errors
/// If the system has no sockets or threads left at the start.
pub fn serve(
    listener: TcpListener,
    tls: Option<&Tls>,
    service: Arc<Service>,
    is_over: impl FnMut() -> bool,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    // One thread does all but reading files; those who read files wait for the disk or for who takes what they read.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(READERS).build()?;
    let acceptor = tls.map(Tls::acceptor);
    let served = runtime.block_on(accept(listener, acceptor, service, is_over));
    runtime.shutdown_background();
    served
}

async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    service: Arc<Service>,
    mut is_over: impl FnMut() -> bool,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let ending = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let next = async || {
        let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
        Ok::<_, io::Error>((listener.accept().await?.0, place))
    };
    while !is_over() {
        match timeout(LOOK_INTERVAL, next()).await {
            Err(_) => {}
            Ok(Ok((stream, place))) => {
                tokio::spawn(greet(stream, tls.clone(), service.clone(), ending.watcher(), place));
            }
            // A visitor who left again, or no descriptors: both pass.
            Ok(Err(_)) => sleep(LOOK_INTERVAL).await,
        }
    }
    drop(listener);
    let _ = timeout(GRACE, ending.shutdown()).await; // what takes longer is cut off
    Ok(())
}

/// Whatever goes wrong with one connection, the visitor sees it, and nobody else does.
async fn greet(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    service: Arc<Service>,
    ending: Watcher,
    _place: OwnedSemaphorePermit,
) {
    // The head of an answer and the pieces behind it are written apart.
    let _ = stream.set_nodelay(true);
    match tls {
        None => converse(TokioIo::new(stream), service, ending).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(PATIENCE, tls.accept(stream)).await {
                converse(TokioIo::new(stream), service, ending).await;
            }
        }
    }
}

async fn converse(stream: impl Read + Write + Unpin + Send + 'static, service: Arc<Service>, ending: Watcher) {
    let answer = service_fn(move |request| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.answer(request).await) }
    });
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(BUFFER_BYTES);
    let _ = ending.watch(protocol.serve_connection(stream, answer)).await;
}

/// How often it is seen whether it is over.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// How long a visitor may take to say what he wants.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long answers that are on their way may take in the end.
const GRACE: Duration = Duration::from_secs(2);
/// Browsers have six at most, and several windows share them.
const CONNECTIONS: usize = 64;
/// Threads that read files; idle ones end.
const READERS: usize = 8;
/// For heads of requests, and for answers that are being sent.
const BUFFER_BYTES: usize = 64 << 10;
