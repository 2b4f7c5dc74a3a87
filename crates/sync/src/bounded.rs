//! Connections to object stores of which no answer is read without limit.
//!
//! The crate `object_store` reads the bodies of errors and lists whole. Here an error's body ends after [`MAX_ERROR`] bytes,
//! and every other one after [`MAX_ANSWER`].

use async_trait::async_trait;
use http_body_util::{BodyExt, Limited};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, ReqwestConnector,
};

/// Bytes of an error that are read.
const MAX_ERROR: usize = 16 << 10;

/// Bytes of any other answer that are read: more than a copy may have.
const MAX_ANSWER: usize = 65 << 20;

/// Makes clients that read no more than these.
#[derive(Debug, Default)]
pub(super) struct BoundedConnector(ReqwestConnector);

impl HttpConnector for BoundedConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Bounded(self.0.connect(options)?)))
    }
}

#[derive(Debug)]
struct Bounded(HttpClient);

#[async_trait]
impl HttpService for Bounded {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let response = self.0.execute(request).await?;
        let is_error = !response.status().is_success();
        Ok(response.map(|body| {
            let limited = Limited::new(body, if is_error { MAX_ERROR } else { MAX_ANSWER });
            HttpResponseBody::new(limited.map_err(|error| HttpError::new_boxed(HttpErrorKind::Decode, error)))
        }))
    }
}
