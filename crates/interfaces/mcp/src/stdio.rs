//! Standard input and output: one message per line, within the size limit, and nothing else.

use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::serve_directly;
use rmcp::transport::Transport;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::frames::{Frame, LONGEST, decode, id_in_use, too_long};
use crate::handler::RequireInitialize;
use crate::server::Server;
use crate::validation::validate;

/// How long a message may take to be written once the client has closed its end.
const FINAL_WRITE: Duration = Duration::from_secs(2);

/// Answers the client at standard input until it closes that or stops reading.
pub(crate) async fn serve(server: Server) -> io::Result<()> {
    // A duplicate: a write that never ends would hold the lock of `io::stdout`, for which the end of the process waits.
    let output = File::from_std(io::stdout().as_fd().try_clone_to_owned()?.into());
    let lines = Lines::new(tokio::io::stdin(), output, server.closing.clone());
    let running = serve_directly(RequireInitialize::new(server), lines, None);
    // Why it ended does not matter: the client has disconnected.
    let _ = running.waiting().await;
    Ok(())
}

/// A transport with one message per line.
struct Lines<R, W> {
    input: BufReader<R>,
    /// What has been read of the next line.
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is skipped.
    is_skipping: bool,
    output: Arc<Output<W>>,
    /// The requests that are not answered yet.
    open: Arc<Mutex<HashSet<RequestId>>>,
    /// An error of the transport itself that is being written.
    refusal: Option<JoinHandle<()>>,
    /// Set when the client has disconnected.
    closing: CancellationToken,
}

/// What reading a line ended with.
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
            output: Arc::new(Output::new(output, closing.clone())),
            open: Arc::default(),
            refusal: None,
            closing,
        }
    }

    /// Reads up to the end of a line into `line`. What was read stays there if the future is dropped.
    async fn read_line(&mut self) -> Line {
        loop {
            let Ok(bytes) = self.input.fill_buf().await else { return Line::End };
            if bytes.is_empty() {
                // The last message may lack its line end.
                return if self.line.is_empty() { Line::End } else { Line::Whole };
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

    /// The message, for the service; `None` where it was refused here. A cancelled request is never answered and keeps its
    /// id: the result of its thread must not answer another request.
    fn accept(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        let ClientJsonRpcMessage::Request(request) = &message else { return Some(message) };
        let refusal = match validate(&request.request) {
            None if self.open().insert(request.id.clone()) => return Some(message),
            None => id_in_use(),
            Some(wrong) => wrong,
        };
        self.refuse(Some(request.id.clone()), refusal);
        None
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a message that the service does not get. A task writes the error: dropping the future of `receive` must not leave
    /// half of it.
    fn refuse(&mut self, id: Option<RequestId>, error: ErrorData) {
        let writing = self.output.clone().write(ServerJsonRpcMessage::error(error, id));
        self.refusal = Some(tokio::spawn(async { drop(writing.await) }));
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
        self.output.clone().write(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // One at a time: a client that sends nonsense and reads nothing must not fill the memory.
            if let Some(refusal) = &mut self.refusal {
                let _ = refusal.await;
                self.refusal = None;
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
                    if let Some(message) = self.accept(*message) {
                        return Some(message);
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.flush().await
    }
}

/// Writes messages.
struct Output<W> {
    writer: tokio::sync::Mutex<W>,
    /// Set when the client has disconnected.
    closing: CancellationToken,
    /// Set when it does not read either, and nothing can be written.
    stalled: CancellationToken,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    fn new(writer: W, closing: CancellationToken) -> Self {
        Self { writer: tokio::sync::Mutex::new(writer), closing, stalled: CancellationToken::new() }
    }

    /// Writes a message; a client that no longer reads has disconnected.
    async fn write(self: Arc<Self>, message: ServerJsonRpcMessage) -> io::Result<()> {
        let mut line = serde_json::to_vec(&message)?;
        line.push(b'\n');
        let written = self.unless_stalled(async |writer: &mut W| {
            writer.write_all(&line).await?;
            writer.flush().await
        });
        let written = written.await;
        if written.is_err() {
            self.closing.cancel();
        }
        written
    }

    async fn flush(&self) -> io::Result<()> {
        self.unless_stalled(async |writer: &mut W| writer.flush().await).await
    }

    /// Writes; once the client has closed its end, only as long as it still reads.
    async fn unless_stalled(&self, work: impl AsyncFnOnce(&mut W) -> io::Result<()>) -> io::Result<()> {
        let working = async { work(&mut *self.writer.lock().await).await };
        let given_up = async {
            self.closing.cancelled().await;
            tokio::time::sleep(FINAL_WRITE).await;
        };
        tokio::select! {
            done = working => done,
            () = self.stalled.cancelled() => Err(io::ErrorKind::BrokenPipe.into()),
            () = given_up => {
                self.stalled.cancel();
                Err(io::ErrorKind::TimedOut.into())
            }
        }
    }
}
