//! The address of a database and the TLS of its connections.

use std::net::IpAddr;
use std::str::FromStr;

use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::config::{Config, Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::{Identity, connector};
use crate::catalog::{CatalogError, TlsOptions};

#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
}

impl Address {
    /// Parses the URL in `setting`. Errors do not repeat it, because it contains a password.
    ///
    /// # Errors
    /// `Rejected` if the URL is invalid, names no host or user, or allows plain text where TLS is required.
    pub(super) fn read(
        url: &SecretString,
        setting: &str,
        options: &TlsOptions,
    ) -> Result<Self, CatalogError> {
        let (url, identity) =
            identity_asked_for(url.expose_secret()).map_err(|problem| refused(setting, problem))?;
        let mut config = Config::from_str(url.expose_secret()).map_err(|_| {
            refused(
                setting,
                "cannot be read; expected postgres://USER:PASSWORD@HOST/DATABASE?sslmode=require",
            )
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(refused(setting, "names no host"));
        }
        if config.get_user().is_none_or(str::is_empty) {
            return Err(refused(setting, "names no user"));
        }
        if config
            .get_hosts()
            .iter()
            .any(|host| matches!(host, Host::Unix(_)))
        {
            // Unix sockets do not support TLS, whatever the URL requests.
            config.ssl_mode(SslMode::Disable);
        } else if options.required && !is_on_this_machine(&config) {
            if config.get_ssl_mode() == SslMode::Disable {
                return Err(refused(
                    setting,
                    "says sslmode=disable, which sends passwords and questions in plain text; only a host on this machine may \
                     be asked so: write sslmode=require or sslmode=verify-full",
                ));
            }
            config.ssl_mode(SslMode::Require);
        }
        Ok(Self {
            config,
            tls: connector(identity, &options.authorities),
        })
    }
}

impl Address {
    /// Moves to the database of a book. Returns its name.
    pub(super) fn move_to_book(&mut self, book: &str) -> String {
        let name = format!("{}_{book}", self.database().unwrap_or_default());
        self.config.dbname(&name);
        name
    }

    /// Returns the name of the database.
    pub(super) fn database(&self) -> Option<&str> {
        // Postgres' own default is the name of the user.
        self.config.get_dbname().or(self.config.get_user())
    }
}

fn refused(setting: &str, problem: &str) -> CatalogError {
    CatalogError::Rejected(format!("{setting} {problem}"))
}

/// Replaces or removes the parameters that `tokio-postgres` does not know: `sslmode=verify-full`, `sslmode=verify-ca` and `sslrootcert=system`.
/// Returns the URL, and how certificates are verified.
fn identity_asked_for(url: &str) -> Result<(SecretString, Identity), &'static str> {
    let mut identity = Identity::Host;
    let Some((address, query)) = url.split_once('?') else {
        return Ok((url.to_owned().into(), identity));
    };
    let mut options = Vec::new();
    for option in query.split('&') {
        match option {
            "sslmode=verify-full" => options.push("sslmode=require"),
            "sslmode=verify-ca" => {
                identity = Identity::Authority;
                options.push("sslmode=require");
            }
            // Known roots are always trusted.
            "sslrootcert=system" => {}
            option if option.starts_with("sslrootcert=") => {
                return Err(
                    "has the option sslrootcert; name the file of the certificate authority in BOOKRAG_DATABASE_CA instead",
                );
            }
            option => options.push(option),
        }
    }
    let url = format!("{address}?{}", options.join("&"));
    Ok((url.into(), identity))
}

fn is_on_this_machine(config: &Config) -> bool {
    config.get_hosts().iter().all(is_here) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name.eq_ignore_ascii_case("localhost")
                || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUIRED: TlsOptions = TlsOptions {
        required: true,
        authorities: Vec::new(),
    };

    fn read(url: &str, options: &TlsOptions) -> Result<SslMode, String> {
        let address = Address::read(&url.to_owned().into(), "DATABASE_URL", options);
        let address = address.map_err(|error| error.to_string())?;
        Ok(address.config.get_ssl_mode())
    }

    #[test]
    fn a_refused_url_is_not_repeated() {
        for url in [
            "postgres://reader:hunter2@db.example.org/book?sslmode=hunter2",
            "postgres://reader:hunter2@db.example.org:hunter2/book",
            "postgres://:hunter2@db.example.org/book",
            "postgres://reader:hunter2@/book",
            "postgres://reader:hunter2@db.example.org/book?sslmode=disable",
            "postgres://reader:hunter2@db.example.org/book?sslrootcert=/hunter2.pem",
            "hunter2",
        ] {
            let refusal = read(url, &REQUIRED).expect_err(url);
            assert!(refusal.contains("DATABASE_URL"), "{refusal}");
            assert!(!refusal.contains("hunter2"), "{url}: {refusal}");
            assert!(!refusal.contains("example"), "{refusal}");
        }
    }

    #[test]
    fn urls_as_providers_print_them_are_read() {
        for options in [
            "sslmode=require&channel_binding=require",
            "sslmode=verify-full",
            "sslmode=verify-ca",
            "sslmode=verify-full&sslrootcert=system",
        ] {
            let url = format!("postgresql://reader:hunter2@db.example.org/book?{options}");
            let mode = read(&url, &TlsOptions::default());
            assert_eq!(mode, Ok(SslMode::Require), "{options}");
        }
    }

    #[test]
    fn where_tls_is_required_only_this_machine_is_asked_in_plain_text() {
        let url = |host: &str, mode: &str| format!("postgres://reader@{host}/book{mode}");
        for mode in ["", "?sslmode=prefer"] {
            let mode = read(&url("db.example.org", mode), &REQUIRED);
            assert_eq!(mode, Ok(SslMode::Require));
        }
        for host in ["db.example.org", "10.0.0.1", "localhost,db.example.org"] {
            let refusal = read(&url(host, "?sslmode=disable"), &REQUIRED).expect_err(host);
            assert!(refusal.contains("sslmode=require"), "{refusal}");
        }
        for host in ["localhost", "127.0.0.1", "[::1]"] {
            let mode = read(&url(host, "?sslmode=disable"), &REQUIRED);
            assert_eq!(mode, Ok(SslMode::Disable), "{host}");
            assert_eq!(read(&url(host, ""), &REQUIRED), Ok(SslMode::Prefer));
        }
        let elsewhere = "host=localhost hostaddr=10.0.0.1 user=reader sslmode=disable";
        read(elsewhere, &REQUIRED).expect_err("another machine's address");
        let socket = "postgres://reader@%2Ftmp/book?sslmode=require";
        assert_eq!(read(socket, &REQUIRED), Ok(SslMode::Disable));
        let laptop = TlsOptions::default();
        let mode = read(&url("postgres", ""), &laptop);
        assert_eq!(mode, Ok(SslMode::Prefer));
    }
}
