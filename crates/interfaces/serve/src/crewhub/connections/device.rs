//! The devices of OpenClaw's gateway: no connection of Backstory's has one.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::{ONE, find};
use crate::extract::PathParams;
use crate::operation::{get, post};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::security::TokenScope;
use crate::state::Shared;

/// The device that a connection to OpenClaw's gateway is paired with, of which there is none.
#[derive(Debug, Serialize, JsonSchema)]
struct DeviceStatus {
    connection_id: String,
    supported: bool,
    paired: bool,
    device_id: Option<String>,
    device_name: Option<String>,
    platform: Option<String>,
    message: &'static str,
}

/// Why no device is paired.
const NO_DEVICE: &str = "sessions are read from files, so there is no device to pair";

pub(super) fn add(routes: &mut Routes) {
    let route = get(format!("{ONE}/device-status"), "device_status", "Whether a device is paired: never");
    routes.add(route.answer::<DeviceStatus>(), device_status);
    let route = post(format!("{ONE}/pair"), "pair_device", "Pairs a device, of which there is none");
    routes.add(route.scope(TokenScope::Admin).answer::<DeviceStatus>(), pair);
}

async fn device_status(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<DeviceStatus>, Problem> {
    let connection = find(&server, &id)?;
    Ok(Json(DeviceStatus {
        connection_id: connection.id,
        supported: false,
        paired: false,
        device_id: None,
        device_name: None,
        platform: None,
        message: NO_DEVICE,
    }))
}

async fn pair(
    State(server): State<Shared>,
    PathParams(id): PathParams<String>,
) -> Result<Json<DeviceStatus>, Problem> {
    find(&server, &id)?;
    Err(Problem::usage(NO_DEVICE))
}
