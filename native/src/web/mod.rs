//! What `web` serves: the page that opens repositories in a browser, and one repository beside it, read only.
//!
//! | file | holds |
//! | - | - |
//! | `site` | the page's files, as data |
//! | `headers` | what every answer tells the browser to enforce |
//! | `names` | the names under which the server may be asked: no others, or any page could be it |
//! | `token` | the secret without which nothing of the repository is given |
//! | `rest` | the repository, by the protocol of borgstore's server |
//! | `folder` | its files, none outside it |
//! | `range`, `content` | parts of files, and how they are sent |
//! | `service` | what is answered to a request |
//! | `server`, `tls` | connections |
//! | `browser` | starts one on the page |
//! | `export` | the page as files for other servers |

mod browser;
mod content;
mod export;
mod folder;
mod headers;
mod names;
mod range;
mod rest;
mod server;
mod service;
mod site;
#[cfg(test)]
mod tests;
mod tls;
mod token;

pub use browser::Start;
pub use export::export;
pub use folder::ServedFolder;
pub use names::Names;
pub use rest::Rest;
pub use server::serve;
pub use service::Service;
pub use site::Site;
pub use tls::Tls;
pub use token::Token;

/// Where the repository lies, beside the page.
pub const REPOSITORY: &str = "/repository/";
