//! HTTPS with a certificate authority of our own.

use super::web_server::{Answer, Web, read};
use super::{Fate, Job, said};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;
use std::io::Write;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use tempfile::NamedTempFile;

/// An authority; its certificate is in a file.
struct Authority {
    params: CertificateParams,
    key: KeyPair,
    file: NamedTempFile,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let mut file = NamedTempFile::new().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        file.write_all(pem.as_bytes()).unwrap();
        Authority { params, key, file }
    }

    fn path(&self) -> &str {
        self.file.path().to_str().unwrap()
    }

    /// A server with a certificate for `name`; gives its port and counts requests.
    fn server(&self, name: &str) -> (u16, Arc<Mutex<usize>>) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let issuer = Issuer::from_params(&self.params, &self.key);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let count = Arc::new(Mutex::new(0));
        let kept = Arc::clone(&count);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = StreamOwned::new(connection, stream.unwrap());
                if !read(&mut stream).head.is_empty() {
                    *kept.lock().unwrap() += 1;
                    stream
                        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                        .unwrap();
                }
            }
        });
        (port, count)
    }
}

fn job(port: u16) -> Job {
    Job::new(json!({"type": "webhook", "url": format!("https://localhost:{port}/hook")}))
}

#[test]
fn n58_the_right_certificate_is_taken_and_a_wrong_one_refused() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let (port, count) = ours.server("localhost");
    assert_eq!(
        job(port).send(&[("SSL_CERT_FILE", ours.path())]).fate,
        said(&Fate::Sent)
    );
    assert_eq!(*count.lock().unwrap(), 1);
    // of an authority that is not trusted
    let told = job(port).send(&[("SSL_CERT_FILE", theirs.path())]);
    assert_eq!(told.fate, said(&Fate::retry("tls")));
    // for another name
    let (other, none) = ours.server("example.org");
    let told = job(other).send(&[("SSL_CERT_FILE", ours.path())]);
    assert_eq!(told.fate, said(&Fate::retry("tls")));
    assert_eq!((*count.lock().unwrap(), *none.lock().unwrap()), (1, 0));
}

#[test]
fn a_server_that_agrees_on_nothing_has_not_got_the_request() {
    let ours = Authority::new();
    let variables = [("SSL_CERT_FILE", ours.path())];
    let web = Web::start(&[Answer::Refuses]);
    assert_eq!(job(web.port).send(&variables).fate, said(&Fate::retry("tls")));
    let plain = Web::start(&[Answer::Says("HTTP/1.1 400 Bad Request\r\n\r\n")]);
    assert_eq!(job(plain.port).send(&variables).fate, said(&Fate::retry("tls")));
    let silent = Web::start(&[Answer::Sleeps]);
    let told = job(silent.port).send(&variables);
    assert_eq!(told.fate, said(&Fate::retry("timeout")));
    assert!((4_500..7_000).contains(&told.took.as_millis()), "{:?}", told.took);
}

#[test]
fn through_a_proxy_the_certificate_is_still_the_servers() {
    let ours = Authority::new();
    let proxy = Web::start(&[Answer::Connects]);
    let variables = [("SSL_CERT_FILE", ours.path()), ("https_proxy", &proxy.url(""))];
    // what answers behind the proxy speaks no TLS
    let told = Job::new(json!({"type": "webhook", "url": "https://ring.invalid/"})).send(&variables);
    assert_eq!(told.fate, said(&Fate::retry("tls")));
    assert!(proxy.seen()[0].head.starts_with("CONNECT ring.invalid:443"));
}
