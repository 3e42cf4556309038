# Removes the service and the program. The configuration, the credentials and what was not delivered stay, unless -RemoveData.
[CmdletBinding()]
param([switch] $RemoveData)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

$service = 'ScheduledEventsBridgeAgent'
$programs = Join-Path $env:ProgramFiles 'ScheduledEventsBridge'
$data = Join-Path $env:ProgramData 'scheduled-events-bridge'
$wrapper = Join-Path $programs 'scheduled-events-bridge-agent.exe'

if (Get-Service -Name $service -ErrorAction SilentlyContinue) {
    Stop-Service -Name $service
    & $wrapper uninstall
    if ($LASTEXITCODE -ne 0) { throw "$wrapper uninstall ended with $LASTEXITCODE" }
}
if (Test-Path -LiteralPath $programs) { Remove-Item -LiteralPath $programs -Recurse -Force }
if ($RemoveData -and (Test-Path -LiteralPath $data)) { Remove-Item -LiteralPath $data -Recurse -Force }
