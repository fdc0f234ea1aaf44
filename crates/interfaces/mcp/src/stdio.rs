//! Standard input and output: one message a line, each no longer than is allowed, and nothing else.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::serve_directly;
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::frames::{Frame, LONGEST, decode, too_long};
use crate::handler::Opening;
use crate::server::Server;

/// Answers the client at standard input until it closes it, or reads no more.
pub(crate) async fn serve(server: Server) {
    let lines = Lines::new(tokio::io::stdin(), tokio::io::stdout(), server.closing.clone());
    let running = serve_directly(Opening::new(server), lines, None);
    // Nothing is sent to a client that is gone.
    let _ = running.waiting().await;
}

/// A transport that reads and writes one message a line.
struct Lines<R, W> {
    input: BufReader<R>,
    /// What has been read of the next line.
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is passed over.
    is_skipping: bool,
    output: Arc<tokio::sync::Mutex<W>>,
    /// The requests that are not answered yet.
    open: Arc<Mutex<HashSet<RequestId>>>,
    /// An answer of the transport's own that is being written.
    own: Option<JoinHandle<()>>,
    /// Set when the client is gone.
    closing: CancellationToken,
}

/// The outcome of reading a line.
enum Line {
    Whole,
    TooLong,
    End,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn new(input: R, output: W, closing: CancellationToken) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_skipping: false,
            output: Arc::new(tokio::sync::Mutex::new(output)),
            open: Arc::default(),
            own: None,
            closing,
        }
    }

    /// Reads up to the end of a line into `line`. What was read stays there when this is dropped before its end.
    async fn read_line(&mut self) -> Line {
        loop {
            let Ok(bytes) = self.input.fill_buf().await else { return Line::End };
            if bytes.is_empty() {
                return Line::End;
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(bytes.len(), |end| end + 1);
            let is_too_long = !self.is_skipping && self.line.len() + taken > LONGEST;
            if !self.is_skipping && !is_too_long {
                self.line.extend_from_slice(&bytes[..taken]);
            }
            self.input.consume(taken);
            if is_too_long {
                self.line = Vec::new();
                self.is_skipping = end.is_none();
                return Line::TooLong;
            }
            match end {
                Some(_) if self.is_skipping => self.is_skipping = false,
                Some(_) => return Line::Whole,
                None => {}
            }
        }
    }

    /// What the service gets of a message; none where it was answered here. A request that is cancelled is never answered,
    /// and its id stays taken: what its thread still comes to must not answer another one.
    fn pass(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        if let ClientJsonRpcMessage::Request(request) = &message
            && !self.open().insert(request.id.clone())
        {
            let error = ErrorData::invalid_request("a request with this id was not answered", None);
            self.refuse(Some(request.id.clone()), error);
            return None;
        }
        Some(message)
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers what the service does not get. A task of its own writes it: half an answer must not remain where reading
    /// is given up for something else.
    fn refuse(&mut self, id: Option<RequestId>, error: ErrorData) {
        let writing =
            write(self.output.clone(), ServerJsonRpcMessage::error(error, id), self.closing.clone());
        self.own = Some(tokio::spawn(async { drop(writing.await) }));
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let id = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = id {
            self.open().remove(id);
        }
        write(self.output.clone(), message, self.closing.clone())
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // One at a time: a client that sends nonsense and reads nothing must not fill the memory.
            if let Some(own) = &mut self.own {
                let _ = own.await;
                self.own = None;
            }
            let closing = self.closing.clone();
            let read = tokio::select! {
                read = self.read_line() => read,
                () = closing.cancelled() => Line::End,
            };
            match read {
                Line::Whole => {}
                Line::TooLong => {
                    self.refuse(None, too_long());
                    continue;
                }
                Line::End => {
                    self.closing.cancel();
                    return None;
                }
            }
            let frame = decode(&self.line);
            self.line.clear();
            match frame {
                Frame::Nothing => {}
                Frame::Invalid { id, error } => self.refuse(id, error),
                Frame::Message(message) => {
                    if let Some(message) = self.pass(*message) {
                        return Some(message);
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}

/// Writes a message; a client that does not read any more is gone.
async fn write<W: AsyncWrite + Unpin>(
    output: Arc<tokio::sync::Mutex<W>>,
    message: ServerJsonRpcMessage,
    closing: CancellationToken,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    let written = match output.write_all(&line).await {
        Ok(()) => output.flush().await,
        Err(error) => Err(error),
    };
    if written.is_err() {
        closing.cancel();
    }
    written
}
