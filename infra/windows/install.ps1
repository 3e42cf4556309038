# Installs the agent as a Windows service, or another version of it over the one that is there. Starts it only with -Start.
[CmdletBinding()]
param(
    # WinSW's executable, as its makers publish it.
    [Parameter(Mandatory = $true)]
    [string] $WinSW,
    # What it must hash to, from a place that you trust.
    [Parameter(Mandatory = $true)]
    [ValidatePattern('^[0-9a-fA-F]{64}$')]
    [string] $WinSWSha256,
    [switch] $Start
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

$service = 'ScheduledEventsBridgeAgent'
$account = "NT SERVICE\$service"
$programs = Join-Path $env:ProgramFiles 'ScheduledEventsBridge'
$data = Join-Path $env:ProgramData 'scheduled-events-bridge'
$configuration = Join-Path $data 'agent.yaml'
$credentials = Join-Path $data 'credentials'
$state = Join-Path $data 'state'
$logs = Join-Path $data 'logs'
$wrapper = Join-Path $programs 'scheduled-events-bridge-agent.exe'
$program = Join-Path $programs 'seb.exe'

# A program that fails does not throw by itself.
function Invoke-Program([string] $Path, [string[]] $Arguments) {
    & $Path @Arguments
    if ($LASTEXITCODE -ne 0) { throw "$Path $Arguments ended with $LASTEXITCODE" }
}

# Every user may make a folder in ProgramData, and files in most folders there. What somebody else made stays theirs to
# change, whatever is granted on it, and a link leads elsewhere.
function Assert-Owned {
    $trusted = 'S-1-5-18', 'S-1-5-32-544', [Security.Principal.WindowsIdentity]::GetCurrent().User.Value
    foreach ($path in $data, $credentials, $state, $logs, $configuration) {
        if (-not (Test-Path -LiteralPath $path)) { continue }
        $owner = (Get-Acl -LiteralPath $path).GetOwner([Security.Principal.SecurityIdentifier]).Value
        $isLink = ((Get-Item -LiteralPath $path -Force).Attributes -band [IO.FileAttributes]::ReparsePoint) -ne 0
        if ($isLink -or ($trusted -notcontains $owner)) {
            throw "$path is a link, or belongs to $owner and not to the administrators. Look at what it is; to keep it: icacls.exe `"$path`" /setowner *S-1-5-32-544"
        }
    }
}

$identity = New-Object Security.Principal.WindowsPrincipal([Security.Principal.WindowsIdentity]::GetCurrent())
if (-not $identity.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)) { throw 'Run this as an administrator.' }

# Everything that may be refused comes before anything is touched.
Assert-Owned
$found = (Get-FileHash -LiteralPath $WinSW -Algorithm SHA256).Hash
if ($found -ne $WinSWSha256) { throw "$WinSW is not what -WinSWSha256 says: its SHA-256 is $found." }
$new = Join-Path $PSScriptRoot 'seb.exe'
Invoke-Program $new @('--version')
if (Test-Path -LiteralPath $configuration) {
    $env:CREDENTIALS_DIRECTORY = $credentials
    Invoke-Program $new @('config', 'show', '--program', 'agent', '-c', $configuration) | Out-Null
} elseif ($Start) {
    throw "There is no $configuration to start the agent with."
}

$before = Get-Service -Name $service -ErrorAction SilentlyContinue
$wasRunning = ($null -ne $before) -and ($before.Status -eq 'Running')
if ($wasRunning) { Stop-Service -Name $service }

# *S-1-5-18 is the system, *S-1-5-32-544 the administrators, whatever they are called in the language of the machine.
New-Item -ItemType Directory -Force -Path $programs, $data | Out-Null
Invoke-Program 'icacls.exe' @($data, '/inheritance:r', '/grant:r', '*S-1-5-18:(OI)(CI)F', '*S-1-5-32-544:(OI)(CI)F')
# Nobody else gets in from here on; somebody may have a moment ago.
Assert-Owned
New-Item -ItemType Directory -Force -Path $credentials, $state, $logs | Out-Null
foreach ($folder in $data, $credentials, $state, $logs) {
    Invoke-Program 'icacls.exe' @($folder, '/setowner', '*S-1-5-32-544')
}
if (Test-Path -LiteralPath $program) { Copy-Item -LiteralPath $program -Destination "$program.before" -Force }
Copy-Item -LiteralPath $new -Destination $program -Force
Copy-Item -LiteralPath $WinSW -Destination $wrapper -Force
Copy-Item -LiteralPath (Join-Path $PSScriptRoot 'scheduled-events-bridge-agent.xml') -Destination $programs -Force

# The account of a service has a name only when there is the service. It has no password.
if ($null -eq $before) { Invoke-Program $wrapper @('install') }
Invoke-Program 'sc.exe' @('config', $service, 'obj=', $account)
Invoke-Program 'sc.exe' @('sidtype', $service, 'unrestricted')

Invoke-Program 'icacls.exe' @($data, '/grant:r', "${account}:(OI)(CI)RX")
foreach ($folder in $state, $logs) {
    Invoke-Program 'icacls.exe' @($folder, '/grant:r', "${account}:(OI)(CI)M")
}

if ($Start -or $wasRunning) {
    Start-Service -Name $service
    Write-Output 'The agent runs.'
} else {
    Write-Output "Nothing was started: asking for Scheduled Events switches them on for the VM. Write $configuration, then: Start-Service $service"
}
