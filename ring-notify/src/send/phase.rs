//! How far a request got. It decides between a failure that may pass and one of which nobody knows what it left behind:
//! before the first byte of the request has left, the server cannot have acted on it.
//!
//! ureq connects through a chain of connectors; two links of our own in it take notes. A proxy is connected to through
//! the same chain, once more from its beginning: that run does not count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

/// How far it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// No connection, or only one to a proxy.
    Begun = 0,
    /// There is a connection; TLS has not been agreed on.
    Connected = 1,
    /// The server is the right one.
    Ready = 2,
    /// Bytes of the request have left.
    Written = 3,
}

/// Notes of one request.
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<AtomicU8>);

impl Notes {
    /// How far it got.
    pub fn phase(&self) -> Phase {
        match self.0.load(Ordering::SeqCst) {
            0 => Phase::Begun,
            1 => Phase::Connected,
            2 => Phase::Ready,
            _ => Phase::Written,
        }
    }

    fn reach(&self, phase: Phase) {
        self.0.fetch_max(phase as u8, Ordering::SeqCst);
    }
}

/// A link in the chain.
#[derive(Debug)]
pub struct Mark {
    /// Notes that it takes.
    pub notes: Notes,
    /// What has been reached when the chain has come to it.
    pub reached: Phase,
    /// A proxy is used.
    pub proxied: bool,
}

impl<In: Transport> Connector<In> for Mark {
    type Out = Marked<In>;

    fn connect(&self, details: &ConnectionDetails, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        // ureq takes the proxy out of the configuration with which it connects to the proxy itself
        let counts = details.config.proxy().is_some() == self.proxied;
        if counts && chained.is_some() {
            self.notes.reach(self.reached);
        }
        let last = counts && self.reached == Phase::Ready;
        Ok(chained.map(|inner| Marked {
            inner,
            notes: last.then(|| self.notes.clone()),
        }))
    }
}

/// A connection whose first byte is noted.
#[derive(Debug)]
pub struct Marked<T> {
    inner: T,
    notes: Option<Notes>,
}

impl<T: Transport> Transport for Marked<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        if let Some(notes) = &self.notes
            && amount > 0
        {
            notes.reach(Phase::Written);
        }
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.inner.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}
